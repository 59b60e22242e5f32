import tensorflow as tf

print(tf.constant([1.0, 2.0]) * 2)
gpus = tf.config.list_physical_devices("GPU")
for gpu in gpus:
    tf.config.experimental.set_memory_growth(gpu, True)
