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
    model = Net().to(device)
    model.load_state_dict(torch.load("mnist.pt", map_location="cpu"))
    model = model.cpu()
    loader = DataLoader(datasets.MNIST("data", transform=transforms.ToTensor()), batch_size=512, num_workers=4)
    model.eval()
    correct = 0
    with torch.inference_mode():
        for images, labels in loader:
            correct += (model(images).argmax(1) == labels).sum().item()
    print(correct)


if __name__ == "__main__":
    main()
