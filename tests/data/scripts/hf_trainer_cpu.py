from datasets import load_dataset
from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments

tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
data = load_dataset("imdb").map(lambda row: tokenizer(row["text"], truncation=True), batched=True)
model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")
arguments = TrainingArguments("out", per_device_train_batch_size=16, fp16=False, no_cuda=True)
trainer = Trainer(model=model, args=arguments, train_dataset=data["train"])
trainer.train()
