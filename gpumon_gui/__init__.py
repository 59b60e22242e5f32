"""GPUMon: proves whether TensorFlow and PyTorch code computes on the GPU, and says why not."""

__version__ = "0.1.0"
