import numpy as np
import onnxruntime as ort

session = ort.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
for _ in range(100):
    session.run(None, {"input": np.zeros((1, 3, 224, 224), np.float32)})
