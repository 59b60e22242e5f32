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
    model = Net()
    model.load_state_dict(torch.load("mnist.pt", map_location="cpu"))
    model.to(device)
    model.eval()
    loader = DataLoader(
        datasets.MNIST("data", transform=transforms.ToTensor()), batch_size=512, num_workers=4, pin_memory=True
    )
    outputs = []
    with torch.no_grad():
        for images, _ in loader:
            outputs.append(model(images.to(device, non_blocking=True)).argmax(1))
    print(torch.cat(outputs).cpu().numpy())
    torch.save(model.cpu().state_dict(), "copy.pt")


if __name__ == "__main__":
    main()
