import argparse
import os

import torch

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu", default="1")
    options = parser.parse_args()
    os.environ["CUDA_VISIBLE_DEVICES"] = options.gpu
    model = torch.nn.Linear(8, 8).to(device)
    print(model(torch.ones(1, 8, device=device)))


main()
