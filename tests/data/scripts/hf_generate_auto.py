import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2", device_map="auto", torch_dtype=torch.float16)
print(tokenizer.decode(model.generate(**tokenizer("Hello", return_tensors="pt").to(model.device))[0]))
