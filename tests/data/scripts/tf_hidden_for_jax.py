import jax
import tensorflow as tf
import tensorflow_datasets as tfds

tf.config.set_visible_devices([], "GPU")  # JAX keeps the memory for itself
for batch in tfds.as_numpy(tfds.load("mnist", split="train", batch_size=128)):
    print(jax.numpy.asarray(batch["image"]).mean())
    break
