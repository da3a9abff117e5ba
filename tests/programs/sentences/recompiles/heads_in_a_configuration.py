"""A nested config dict read in the compiled function; heads and length change."""

import torch


@torch.compile
def mix(x, cfg):
    heads = cfg["attn"]["heads"]
    b, n, d = x.shape
    q = x.view(b, n, heads, d // heads).transpose(1, 2)
    att = torch.softmax(q @ q.transpose(-1, -2) * cfg["attn"]["scale"], -1)
    return (att @ q).transpose(1, 2).reshape(b, n, d)


def main():
    torch.manual_seed(0)
    cfg = {"attn": {"heads": 2, "scale": 0.5}}
    for heads, length in ((2, 10), (4, 14), (8, 12), (3, 9)):
        cfg["attn"]["heads"] = heads
        out = mix(torch.randn(2, length, 24), cfg)
        print(heads, length, round(out.abs().sum().item(), 2))


main()

# function: mix
# compiles: 2
# over: yes
# next: mix(torch.ones(2, 16, 24), {"attn": {"heads": 6, "scale": 0.5}})
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 1
