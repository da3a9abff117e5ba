from dataclasses import dataclass, field
from typing import Callable, List
import torch


@dataclass
class SamplingParams:
    temperature: float = 0.7
    top_p: float = 0.9
    repetition_penalty: float = 1.2
    stop: List[int] = field(default_factory=list)


Processor = Callable[[torch.Tensor, List[int]], torch.Tensor]


def repetition(params: SamplingParams) -> Processor:
    def proc(logits, history):
        if not history:
            return logits
        idx = torch.tensor(sorted(set(history)))
        s = logits[idx]
        logits = logits.clone()
        logits[idx] = torch.where(s < 0, s * params.repetition_penalty, s / params.repetition_penalty)
        return logits
    return proc


def top_p(params: SamplingParams) -> Processor:
    def proc(logits, history):
        p, order = torch.sort(logits.softmax(-1), descending=True)
        cut = int((p.cumsum(-1) < params.top_p).sum()) + 1  # breaks
        out = torch.full_like(logits, float("-inf"))
        keep = order[:cut]
        out[keep] = logits[keep]
        return out
    return proc


class Sampler:
    def __init__(self, params: SamplingParams):
        self.params = params
        self.processors = [repetition(params), top_p(params)]

    def __call__(self, logits, history):
        logits = logits / self.params.temperature
        for p in self.processors:
            logits = p(logits, history)
        tok = torch.multinomial(logits.softmax(-1), 1)
        finished = tok.item() in self.params.stop
        return tok, finished
