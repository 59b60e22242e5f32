from transformers import pipeline

classify = pipeline("sentiment-analysis", model="distilbert-base-uncased-finetuned-sst-2-english")
print(classify(["good", "bad"] * 1000, batch_size=32))
