import os
import torch
import torch.nn.functional as F


def maybe_compile(fn=None, *, enabled=True, **kw):
    if fn is None:
        return lambda f: maybe_compile(f, enabled=enabled, **kw)
    if not enabled or os.environ.get("NO_COMPILE"):
        return fn
    return torch.compile(fn, backend="eager", **kw)


@maybe_compile
def geglu(x):
    a, b = x.chunk(2, dim=-1)
    return a * F.gelu(b)


@maybe_compile(dynamic=True)
def focal_loss(logits, target, gamma=2.0, alpha=None):
    ce = F.cross_entropy(logits, target, reduction="none")
    pt = torch.exp(-ce)
    loss = (1 - pt) ** gamma * ce
    if alpha is not None:
        loss = alpha[target] * loss
    return loss.mean()


@maybe_compile(enabled=False)
def summarize(loss, acc):
    print("loss", loss.item(), "acc", float(acc))
    if acc > 0.9:
        return "done"
    return "continue"


@maybe_compile
def ohem(logits, target, keep_ratio=0.5):
    ce = F.cross_entropy(logits, target, reduction="none")
    k = max(1, int(ce.numel() * keep_ratio))
    hard, _ = ce.topk(k)
    return hard.mean()


@maybe_compile
def label_smooth_onehot(target, n, eps=0.1):
    if target.numel() > 3 and n > 2:
        eps = eps * 2
    return F.one_hot(target, n).float() * (1 - eps) + eps / n


def main():
    torch.manual_seed(0)
    logits = geglu(torch.randn(6, 8)).requires_grad_()
    tgt = torch.randint(0, 4, (6,))
    loss = focal_loss(logits, tgt, alpha=torch.ones(4)) + ohem(logits, tgt)
    loss.backward()
    soft = label_smooth_onehot(tgt, 4)
    acc = (logits.argmax(-1) == tgt).float().mean()
    print(summarize(loss, acc), soft.sum().item())


if __name__ == "__main__":
    main()
