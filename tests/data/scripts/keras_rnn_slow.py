from keras.layers import GRU, LSTM, Dense, Embedding
from keras.models import Sequential
import keras

keras.mixed_precision.set_global_policy("mixed_float16")
model = Sequential(
    [
        Embedding(20000, 128),
        LSTM(128, return_sequences=True, dropout=0.2, recurrent_dropout=0.2),
        LSTM(64, activation="relu", return_sequences=True),
        GRU(64, reset_after=False),
        Dense(1, activation="sigmoid"),
    ]
)
model.compile("adam", "binary_crossentropy")
(x, y), _ = keras.datasets.imdb.load_data(num_words=20000)
model.fit(keras.utils.pad_sequences(x, 200), y, batch_size=128, epochs=3)
