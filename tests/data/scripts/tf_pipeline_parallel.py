import tensorflow as tf

tf.keras.mixed_precision.set_global_policy("mixed_float16")


def load(name, label):
    image = tf.image.decode_jpeg(tf.io.read_file(name), channels=3)
    return tf.image.resize(image, (224, 224)) / 255.0, label


names, labels = ["a.jpg", "b.jpg"], [0, 1]
train = tf.data.Dataset.from_tensor_slices((names, labels))
train = train.shuffle(1000).map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(32)
train = train.prefetch(tf.data.AUTOTUNE)
model = tf.keras.applications.ResNet50(weights=None, classes=2)
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(train, epochs=10)
