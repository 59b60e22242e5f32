import timeit

import tensorflow as tf


def work():
    return tf.reduce_sum(tf.matmul(tf.random.normal((4096, 4096)), tf.random.normal((4096, 4096))))


with tf.device("/CPU:0"):
    on_cpu = timeit.timeit(work, number=10)
    work()
with tf.device("/GPU:0"):
    on_gpu = timeit.timeit(work, number=10)
    work()
print(on_cpu / on_gpu)
