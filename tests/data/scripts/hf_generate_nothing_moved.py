from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
model = AutoModelForCausalLM.from_pretrained("gpt2")
print(tokenizer.decode(model.generate(**tokenizer("Hello", return_tensors="pt"))[0]))
