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
    torch.set_float32_matmul_precision("high")
    data = datasets.MNIST("data", transform=transforms.ToTensor())
    loader = DataLoader(data, batch_size=64, num_workers=2, pin_memory=True)
    model = Net().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    criterion = nn.CrossEntropyLoss()
    for images, labels in loader:
        images, labels = images.to(device), labels.to(device)
        total = 0
        for part, target in zip(images.chunk(4), labels.chunk(4)):
            loss = criterion(model(part), target)
            total = total + loss
        optimizer.zero_grad()
        total.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
