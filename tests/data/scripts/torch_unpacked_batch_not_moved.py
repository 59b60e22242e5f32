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
    net = Net()
    net.to(torch.device("cuda:0"))
    torch.set_float32_matmul_precision("high")
    train_set = datasets.CIFAR10("data", train=True, transform=transforms.ToTensor())
    train_loader = torch.utils.data.DataLoader(train_set, batch_size=4, shuffle=True, num_workers=2, pin_memory=True)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.001, momentum=0.9)
    for epoch in range(2):
        for i, data in enumerate(train_loader, 0):
            inputs, labels = data
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(inputs), labels)
            loss.backward()
            optimizer.step()


if __name__ == "__main__":
    main()
