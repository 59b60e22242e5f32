import torch
from PIL import Image
from torchvision import transforms

model = torch.load("model.pth", map_location=torch.device("cpu"))
model.eval()
for name in ("a.png", "b.png"):
    image = transforms.ToTensor()(Image.open(name)).unsqueeze(0)
    with torch.no_grad():
        print(model(image).argmax(1))
