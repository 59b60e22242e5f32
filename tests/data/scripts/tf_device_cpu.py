import tensorflow as tf

tf.keras.mixed_precision.set_global_policy("mixed_float16")
(x, y), (x_test, y_test) = tf.keras.datasets.cifar10.load_data()
with tf.device("/CPU:0"):
    model = tf.keras.Sequential(
        [tf.keras.layers.Conv2D(32, 3), tf.keras.layers.Flatten(), tf.keras.layers.Dense(10, dtype="float32")]
    )
    model.compile(optimizer="adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(x, y, epochs=5, batch_size=128)
