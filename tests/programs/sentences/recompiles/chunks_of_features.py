"""Processes a long recording in chunks of a growing width (views, not copies)."""

import torch


@torch.compile
def energy(chunk):
    centred = chunk - chunk.mean(-1, keepdim=True)
    return (centred * centred).sum(-1).sqrt()


def main():
    torch.manual_seed(0)
    recording = torch.randn(3, 128)
    start, width = 0, 8
    while start + width <= recording.shape[1]:
        chunk = recording[:, start : start + width]
        print(start, width, round(energy(chunk).sum().item(), 4))
        start += width
        width += 8
    clip = torch.randn(3, 24)
    print("clip", round(energy(clip).sum().item(), 4))


main()

# function: energy
# compiles: 3
# over: yes
# next: energy(torch.ones(3, 128)[:, 40:72])
# remedy: 18 -> chunk = chunk.contiguous(); torch._dynamo.maybe_mark_dynamic(chunk, 1); print(start, width, round(energy(chunk).sum().item(), 4)) && 22 -> torch._dynamo.maybe_mark_dynamic(clip, 1); print("clip", round(energy(clip).sum().item(), 4))   -> compiles 1
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 2
