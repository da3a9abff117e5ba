"""Linear regression: a hand-written SGD step, a decayed rate, a short last batch."""

import torch
import torch.nn.functional as F


def batches(n, size):
    data = torch.randn(n, 8)
    target = data.sum(1, keepdim=True)
    for i in range(0, n, size):
        yield data[i : i + size], target[i : i + size]


@torch.compile
def sgd_step(weight, bias, x, y, lr):
    pred = F.linear(x, weight, bias)
    err = pred - y
    grad_w = err.t() @ x / x.shape[0]
    grad_b = err.mean(0)
    return weight - lr * grad_w, bias - lr * grad_b


def main():
    torch.manual_seed(0)
    w, b = torch.zeros(1, 8), torch.zeros(1)
    lr = 0.1
    for epoch in range(3):
        for x, y in batches(80, 32):
            w, b = sgd_step(w, b, x, y, lr)
        lr *= 0.5
        print(epoch, round(w.sum().item(), 4), round(b.sum().item(), 4))


main()

# function: sgd_step
# compiles: 3
# over: yes
# next: sgd_step(torch.zeros(1, 8), torch.zeros(1), torch.ones(99, 8)[7:40], torch.ones(99, 1)[7:40], 0.3)
# remedy: 14 -> @torch.compile(dynamic=True)   -> compiles 1
# remedy: 29 -> torch._dynamo.maybe_mark_dynamic(x, 0); torch._dynamo.maybe_mark_dynamic(y, 0); w, b = sgd_step(w, b, x, y, lr)   -> compiles 2
