"""Beam search keeps its best candidates by sorting a list of tensors in Python."""

import torch


def best(candidates: list[torch.Tensor], width: int) -> list[torch.Tensor]:
    ordered = sorted(candidates, key=lambda beam: beam[-1], reverse=True)
    return ordered[:width]


@torch.compile(backend="aot_eager")
def advance(beams: list[torch.Tensor], moves: torch.Tensor, width: int) -> list[torch.Tensor]:
    candidates = []
    for beam in beams:
        for move in moves:
            candidates.append(torch.cat([beam[:-1], move[None], (beam[-1] + move.abs())[None]]))
    return best(candidates, width)


torch.manual_seed(0)
beams = [torch.zeros(2), torch.ones(2)]
for width in (2, 2, 3):
    beams = advance(beams, torch.randn(3), width)
    print(width, [round(beam[-1].item(), 4) for beam in beams])
# breaks: 7
# compiles: 7
# remedy: 7 -> scores = torch.stack([beam[-1] for beam in candidates]) && 8 -> return list(torch.stack(candidates)[scores.topk(width).indices].unbind()) -> breaks none
