import os

os.environ["CUDA_VISIBLE_DEVICES"] = "0"
import tensorflow as tf

tf.keras.mixed_precision.set_global_policy("mixed_float16")
model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
model.compile(loss="mse")
(x, y), _ = tf.keras.datasets.mnist.load_data()
model.fit(x.reshape(-1, 784), y, epochs=3)
