"""A GPT small enough to read: two blocks, compiled, with one graph break on purpose."""

import torch
from torch import Tensor, nn
from torch.nn import functional


class Attention(nn.Module):
    """Causal self-attention over `heads` heads."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        split = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.out(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    """Attention and a two-layer perceptron, each around a residual."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.perceptron = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        attended = self.attention(self.norm1(x))
        x = x + attended
        return x + self.perceptron(self.norm2(x))


class TinyGPT(nn.Module):
    """Token and position embeddings, blocks, and logits; warns about long inputs, which breaks the graph."""

    def __init__(self, vocabulary: int = 64, length: int = 32, width: int = 32, heads: int = 4, depth: int = 2) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.positions = nn.Parameter(torch.zeros(length, width))
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.head = nn.Linear(width, vocabulary)

    def forward(self, tokens: Tensor) -> Tensor:
        x = self.embedding(tokens) + self.positions[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        if x.std() < 1e-6:  # reading a value at run time: Dynamo breaks the graph here
            print("all activations are alike")
        return self.head(x)


def main() -> None:
    torch.manual_seed(0)
    model = torch.compile(TinyGPT(), backend="eager", dynamic=True)
    tokens = torch.randint(64, (2, 16))
    logits = model(tokens)
    print(f"logits {tuple(logits.shape)}, mean {logits.mean():+.4f}")


if __name__ == "__main__":
    main()
