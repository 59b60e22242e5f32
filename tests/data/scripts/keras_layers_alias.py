import tensorflow as tf

layers = tf.keras.layers
model = tf.keras.Sequential(
    [
        layers.GRU(64, recurrent_dropout=0.1),
        layers.Dense(1, activation="relu", use_bias=False),
    ]
)
model.summary()
