import tensorflow as tf

tf.config.set_visible_devices([], "GPU")
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile(loss="mse")
model.fit(tf.ones((10, 1)), tf.ones((10, 1)), epochs=1)
