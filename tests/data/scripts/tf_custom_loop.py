import tensorflow as tf

tf.keras.mixed_precision.set_global_policy("mixed_float16")
model = tf.keras.Sequential([tf.keras.layers.Dense(10)])
optimizer = tf.keras.optimizers.Adam()
loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
(x, y), _ = tf.keras.datasets.mnist.load_data()
train = tf.data.Dataset.from_tensor_slices((x.reshape(-1, 784) / 255.0, y)).batch(64).prefetch(2)
for epoch in range(2):
    for step, (images, labels) in enumerate(train):
        with tf.GradientTape() as tape:
            loss = loss_fn(labels, model(images))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        print("loss", loss.numpy())
