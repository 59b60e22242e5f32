import os

import tensorflow as tf

print("GPUs:", tf.config.list_physical_devices("GPU"))
os.environ["CUDA_VISIBLE_DEVICES"] = "1"
print(tf.reduce_sum(tf.random.normal([1000, 1000])))
