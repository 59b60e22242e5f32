import argparse
import os

parser = argparse.ArgumentParser()
parser.add_argument("--cpu-only", action="store_true")
arguments = parser.parse_args()
if arguments.cpu_only:
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
import torch

print(torch.cuda.is_available())
