import multiprocessing as mp
import os

import torch


def load(queue):
    os.environ["CUDA_VISIBLE_DEVICES"] = ""  # this worker only reads files
    queue.put(torch.ones(4))


if __name__ == "__main__":
    queue = mp.Queue()
    mp.Process(target=load, args=(queue,)).start()
    print(queue.get().cuda().sum())
