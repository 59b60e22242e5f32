import torch
import os

torch.manual_seed(1)
print(torch.cuda.device_count())
os.environ["CUDA_VISIBLE_DEVICES"] = "1"
device = torch.device("cuda")
print(torch.ones(4, device=device).sum())
