"""A tiny Llama from transformers, compiled; no weights are downloaded."""

import sys

import torch
from transformers import LlamaConfig, LlamaForCausalLM

if __name__ == "__main__":
    configuration = LlamaConfig(
        vocab_size=64,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=64,
    )
    model = LlamaForCausalLM(configuration).eval()
    compiled = torch.compile(model, backend=sys.argv[1])
    with torch.no_grad():
        logits = compiled(torch.arange(8).reshape(1, 8), use_cache=False).logits
    print("logits", tuple(logits.shape))  #: done
