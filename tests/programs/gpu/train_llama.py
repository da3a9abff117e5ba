"""Train a small Llama for three steps, its forward and its backward compiled by inductor.

Usage: train_llama.py DEVICE [cudagraphs].
"""

from __future__ import annotations

import sys

import torch
import transformers
from dynascope import compiled_autograd
from torch._dynamo.utils import counters
from torch._inductor import config, metrics


class LanguageModel(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        configuration = transformers.LlamaConfig(
            vocab_size=64,
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=1,
            num_attention_heads=4,
            num_key_value_heads=2,
            max_position_embeddings=64,
        )
        self.llama = transformers.LlamaForCausalLM(configuration)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        output = self.llama(tokens, labels=tokens, use_cache=False)
        return output.loss  #: trace


def main(device: str, cudagraphs: bool) -> None:
    config.triton.cudagraphs = cudagraphs
    torch.manual_seed(0)
    model = LanguageModel().to(device)
    compiled = torch.compile(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    tokens = torch.arange(32, device=device).reshape(2, 16)
    with compiled_autograd.enable(torch.compile) as runs:
        for _ in range(3):
            torch.compiler.cudagraph_mark_step_begin()
            loss = compiled(tokens)
            loss.backward()  #: backward
            optimizer.step()
            optimizer.zero_grad()
            print(f"loss {float(loss):.5f}", flush=True)
    print("captured", [run.captured for run in runs], "with", sorted(runs[0].inputs))
    print("kernels", metrics.generated_kernel_count)
    print("CUDA graphs", counters["inductor"]["cudagraph_recorded_non_static_inputs"] > 0)


if __name__ == "__main__":
    main(sys.argv[1], "cudagraphs" in sys.argv)
