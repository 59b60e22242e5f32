import torch
from torch import nn

model = nn.Linear(4, 1).cuda()
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
history, ema = [], 0.0
for step in range(10):
    x = torch.rand(8, 4).cuda()
    loss = criterion(model(x), x.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema = 0.9 * ema + 0.1 * loss.item()
    history.append(ema)
print(f"{ema}")
