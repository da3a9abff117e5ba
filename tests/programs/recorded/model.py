"""A tiny transformers model by name, compiled; prints the messages Dynamo counted as one JSON line."""

import json
import sys

import torch
import transformers
from torch._dynamo.utils import counters

SMALL = {"vocab_size": 64, "max_position_embeddings": 64}
MODELS = {
    "SwitchTransformers": {
        "vocab_size": 64,
        "d_model": 16,
        "d_kv": 8,
        "d_ff": 32,
        "num_layers": 2,
        "num_decoder_layers": 2,
        "num_heads": 2,
        "num_experts": 2,
        "expert_capacity": 4,
    },
    "Reformer": {
        "vocab_size": 64,
        "hidden_size": 16,
        "num_attention_heads": 2,
        "attention_head_size": 8,
        "feed_forward_size": 32,
        "attn_layers": ["local", "lsh"],
        "local_attn_chunk_length": 4,
        "hash_seed": 0,
        "lsh_attn_chunk_length": 4,
        "num_buckets": 2,
        "num_hashes": 1,
        "axial_pos_shape": (4, 4),
        "axial_pos_embds_dim": (8, 8),
        "max_position_embeddings": 16,
        "is_decoder": False,
    },
    "LED": {
        "vocab_size": 64,
        "d_model": 16,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "attention_window": 4,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
        "encoder_ffn_dim": 32,
        "decoder_ffn_dim": 32,
        "max_encoder_position_embeddings": 64,
        "max_decoder_position_embeddings": 64,
    },
    "BigBird": {
        **SMALL,
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "attention_type": "block_sparse",
        "block_size": 2,
        "num_random_blocks": 1,
    },
    "Flaubert": {"vocab_size": 64, "emb_dim": 16, "n_layers": 1, "n_heads": 2},
}
SEQUENCE_TO_SEQUENCE = ("SwitchTransformers", "LED")

if __name__ == "__main__":
    name = sys.argv[1]
    torch.manual_seed(0)
    tokens = torch.randint(0, 50, (2, 16))
    model = getattr(transformers, f"{name}Model")(getattr(transformers, f"{name}Config")(**MODELS[name])).eval()
    inputs = {"input_ids": tokens} | ({"decoder_input_ids": tokens} if name in SEQUENCE_TO_SEQUENCE else {})
    with torch.no_grad():
        torch.compile(model, backend="eager")(**inputs)
    print("COUNTED " + json.dumps(counters["graph_break"]))
