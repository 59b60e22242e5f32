from tensorflow.keras.layers import *
from tensorflow.keras.models import Sequential

model = Sequential([Bidirectional(LSTM(64, unroll=True)), Dense(1)])
model.summary()
