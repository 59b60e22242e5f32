import tensorflow as tf

tf.keras.mixed_precision.set_global_policy("mixed_float16")
with tf.device("cpu:0"):
    model = tf.keras.Sequential([tf.keras.Input((784,)), tf.keras.layers.Dense(10, dtype="float32")])
model.compile(optimizer="adam", loss="mse")
(x, y), _ = tf.keras.datasets.mnist.load_data()
model.fit(x.reshape(-1, 784), y, epochs=2)
