import torch
from datasets import load_dataset
from torch.utils.data import DataLoader
from transformers import AutoModelForSequenceClassification


def main():
    device = "cuda"
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")
    model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    train = DataLoader(load_dataset("imdb")["train"], batch_size=8, num_workers=2, pin_memory=True)
    for batch in train:
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
