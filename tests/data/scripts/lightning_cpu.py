import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader
from torchvision.datasets import MNIST
from torchvision.transforms import ToTensor


class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(784, 10)

    def training_step(self, batch, _):
        x, y = batch
        return nn.functional.cross_entropy(self.net(x.flatten(1)), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


if __name__ == "__main__":
    train = DataLoader(MNIST("data", transform=ToTensor()), batch_size=64, num_workers=4, persistent_workers=True)
    trainer = L.Trainer(accelerator="cpu", max_epochs=3)
    trainer.fit(Lit(), train)
