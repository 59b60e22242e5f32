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


from torch.utils.data import TensorDataset

device = torch.device("cuda")
torch.set_float32_matmul_precision("high")
images, labels = torch.rand(60000, 784), torch.randint(10, (60000,))
dataset = TensorDataset(images, labels)
loader = DataLoader(dataset, batch_size=1024, shuffle=True, pin_memory=True)
model = Net().to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
