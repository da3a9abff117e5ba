"""Each rank leaves out what it has seen before, and one has seen more."""

import torch
import torch.distributed as dist
from job import compiled, end, start

rank, _ = start()
model = torch.nn.Linear(4, 2)
net = compiled(model)


class Unseen:
    def __init__(self, texts):
        self.texts, self.seen = texts, set()

    def __iter__(self):
        for text in self.texts:
            if text not in self.seen:
                self.seen.add(text)
                yield torch.tensor([[float(ord(each)) / 128 for each in text]])


def train(data):
    for x in data:  # PARTS Rank 1 has gone through 2 elements of `data`, and rank 0 is at element 3
        loss = net(x).square().mean()
        loss.backward()
        for p in model.parameters():
            dist.all_reduce(p.grad)
            p.grad = None
    return loss.item()


end(train(Unseen([["abcd", "bcde", "cdef"], ["defg", "efgh", "defg"]][rank])))
