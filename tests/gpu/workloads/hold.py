"""Holds GPU memory and computes nothing."""

import argparse
import time

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--gib", type=float, default=8)
parser.add_argument("--seconds", type=float, default=40)
arguments = parser.parse_args()
block = torch.ones(int(arguments.gib * (1 << 28)), device="cuda")
torch.cuda.synchronize()
time.sleep(arguments.seconds)
