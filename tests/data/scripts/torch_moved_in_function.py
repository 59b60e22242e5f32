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


def to_device(batch, device):
    return [part.to(device, non_blocking=True) for part in batch]


def build(device):
    model = Net()
    return model.to(device)


def train(model, loader, device):
    optimizer = torch.optim.AdamW(model.parameters())
    scaler = torch.amp.GradScaler("cuda")
    for batch in loader:
        images, labels = to_device(batch, device)
        optimizer.zero_grad()
        with torch.autocast("cuda"):
            loss = nn.functional.cross_entropy(model(images), labels)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


if __name__ == "__main__":
    cuda = torch.device("cuda:0")
    train(build(cuda), DataLoader(datasets.FakeData(), num_workers=2, pin_memory=True), cuda)
