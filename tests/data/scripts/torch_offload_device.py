import torch
import torch.nn as nn
from torch.utils.data import DataLoader
from torchvision import datasets, transforms


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(784, 128)
        self.fc2 = nn.Linear(128, 10)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x.flatten(1))))


def main():
    device = torch.device("cuda")
    cpu = torch.device("cpu")
    model = Net().to(device)
    states = {name: value.to(cpu) for name, value in model.state_dict().items()}
    torch.save(states, "net.pt")


if __name__ == "__main__":
    main()
