# composable logits processors; all of them are written to stay in one graph
import math
from functools import reduce
from typing import Callable, Iterable, Optional

import torch
from torch import Tensor

Processor = Callable[[Tensor, Tensor], Tensor]


class Temperature:
    def __init__(self, t: float):
        if not isinstance(t, float) or t <= 0:
            raise ValueError(f"bad temperature {t}")
        self.t = t

    def __call__(self, ids, scores):
        return scores / self.t


class TopK:
    def __init__(self, k: int, fill=-math.inf):
        self.k, self.fill = k, fill

    def __call__(self, ids, scores):
        k = min(self.k, scores.size(-1))
        kth = torch.topk(scores, k)[0][..., -1, None]
        return scores.masked_fill(scores < kth, self.fill)


class TopP:
    def __init__(self, p: float, min_keep: int = 1):
        self.p, self.min_keep = p, min_keep

    def __call__(self, ids, scores):
        srt, order = torch.sort(scores, descending=False)
        remove = srt.softmax(-1).cumsum(-1) <= 1 - self.p
        remove[..., -self.min_keep:] = False
        return scores.masked_fill(remove.scatter(1, order, remove), -math.inf)


class RepetitionPenalty:
    def __init__(self, penalty: float):
        self.penalty = penalty

    def __call__(self, ids, scores):
        s = torch.gather(scores, 1, ids)
        s = torch.where(s < 0, s * self.penalty, s / self.penalty)
        return scores.scatter(1, ids, s)


def build_processors(temperature=1.0, top_k=None, top_p: Optional[float] = None, rep=1.0) -> Iterable[Processor]:
    if rep != 1.0:
        yield RepetitionPenalty(rep)
    if temperature != 1.0:
        yield Temperature(temperature)
    if top_k:
        yield TopK(top_k)
    if top_p is not None and top_p < 1.0:
        yield TopP(top_p)


class Sampler:
    def __init__(self, debug=False, **kw):
        self.procs = tuple(build_processors(**kw))
        self.debug = debug
        self._fn = torch.compile(self._sample, backend="eager", dynamic=False)

    def _sample(self, ids, logits):
        scores = reduce(lambda s, p: p(ids, s), self.procs, logits.float())
        if self.debug:
            print("kept", torch.isfinite(scores).sum(-1).tolist())
        if logits.size(0) == 1:
            scores = scores.expand(1, -1)
        return torch.multinomial(scores.softmax(-1), 1)

    def __call__(self, ids, logits):
        nxt = self._fn(ids, logits)
        return nxt, nxt.squeeze(-1).tolist()


if __name__ == "__main__":
    s = Sampler(temperature=0.7, top_k=20, top_p=0.9, rep=1.2)
    ids = torch.randint(0, 50, (3, 8))
    print(s(ids, torch.randn(3, 50))[1])
