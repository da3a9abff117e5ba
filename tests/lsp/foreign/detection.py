"""Boxes: masks, nonzero, loops over what was kept."""

import torch
from torch import Tensor


def area(boxes: Tensor) -> Tensor:
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def remove_small(boxes: Tensor, size: float) -> Tensor:
    keep = area(boxes) >= size
    return torch.where(keep)[0]  # breaks


def nms(boxes: Tensor, scores: Tensor, threshold: float = 0.5) -> Tensor:
    order = scores.argsort(descending=True)
    kept = []
    while order.numel() > 0:
        best = order[0]
        kept.append(best)
        if order.numel() == 1:
            break
        rest = order[1:]
        overlap = area(boxes[rest]) / area(boxes[best].unsqueeze(0))  # breaks
        order = rest[overlap < threshold]
    return torch.stack(kept)


@torch.compile(backend="eager")
def post_process(boxes: Tensor, scores: Tensor):
    index = remove_small(boxes, 0.1)
    boxes, scores = boxes[index], scores[index]
    labels = scores > 0.5
    boxes[labels] = 0
    picked = nms(boxes, scores)
    return boxes[picked], torch.masked_select(scores, labels)  # breaks


if __name__ == "__main__":
    post_process(torch.tensor([[0.0, 0, 2, 2], [0, 0, 3, 3]]), torch.tensor([0.3, 0.9]))
