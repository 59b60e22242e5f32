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


@torch.no_grad()
def evaluate(model, test_loader, device):
    model.eval()
    correct = 0
    for images, labels in test_loader:
        output = model(images.to(device))
        correct += (output.argmax(1) == labels.to(device)).sum()
    return correct.item()


if __name__ == "__main__":
    gpu = torch.device("cuda")
    net = Net().to(gpu)
    test = datasets.MNIST("data", train=False, transform=transforms.ToTensor())
    print(evaluate(net, DataLoader(test, batch_size=500, num_workers=2, pin_memory=True), gpu))
