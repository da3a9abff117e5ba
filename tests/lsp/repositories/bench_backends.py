import argparse, statistics, sys, time
import torch, torch._dynamo
import torch.nn as nn


def mlp(d=32):
    return nn.Sequential(nn.Linear(d, d), nn.GELU(), nn.Linear(d, d))


class Attn(nn.Module):
    def __init__(self, d=32, h=4):
        super().__init__()
        self.h = h
        self.qkv = nn.Linear(d, d * 3)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (z.view(b, t, self.h, -1).transpose(1, 2) for z in self.qkv(x).chunk(3, -1))
        return nn.functional.scaled_dot_product_attention(q, k, v, is_causal=t > 1).transpose(1, 2).reshape(b, t, d)


def softcap(x, cap=30.0):
    return cap * torch.tanh(x / cap)


CASES = {
    "mlp": lambda: (mlp(), torch.randn(4, 32)),
    "attn": lambda: (Attn(), torch.randn(2, 8, 32)),
    "softcap": lambda: (softcap, torch.randn(64)),
}


def sync():
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def timed(fn, *a):
    sync()
    t0 = time.perf_counter()
    r = fn(*a)
    sync()
    return r, (time.perf_counter() - t0) * 1e3


def run_case(name, backend, reps, check=True):
    torch._dynamo.reset()
    fn, x = CASES[name]()
    opt = fn if backend is None else torch.compile(fn, backend=backend)
    out, cold = timed(opt, x)
    hot = statistics.median(timed(opt, x)[1] for _ in range(reps))
    if check:
        ref = fn(x)
        assert torch.allclose(ref, out, atol=1e-4), (ref - out).abs().max().item()
    print(f"{name:>8} {str(backend):>10} cold {cold:8.2f}ms hot {hot:6.3f}ms")
    return hot


def main(argv=None):
    p = argparse.ArgumentParser()
    p.add_argument("--backends", nargs="*", default=[None, "eager"])
    p.add_argument("--reps", type=int, default=3)
    p.add_argument("--cases", nargs="*", default=list(CASES))
    ns = p.parse_args(argv)
    table = {}
    for c in ns.cases:
        for b in ns.backends:
            try:
                table[c, b] = run_case(c, b, ns.reps)
            except Exception as e:
                print("FAILED", c, b, e, file=sys.stderr)
                raise
    return table


if __name__ == "__main__":
    with torch.no_grad():
        main([])
