import numpy as np
import torch

net = torch.nn.Conv2d(3, 4, 1)


def confusion(predicted, target):
    counts = np.zeros((4, 4))
    np.add.at(counts, (target, predicted), 1)
    return counts


@torch.compile
def evaluate(image, target):
    logits = net(image)
    loss = torch.nn.functional.cross_entropy(logits, target)
    counts = confusion(logits.argmax(1).reshape(-1).numpy(), target.reshape(-1).numpy())
    return loss, torch.from_numpy(counts)


for size in (4, 6, 8):
    target = torch.arange(size * size).reshape(1, size, size) % 4
    with torch.no_grad():
        loss, counts = evaluate(torch.ones(1, 3, size, size), target)
    print(round(loss.item(), 4), counts.sum().item())
# breaks: 9
# compiles: 5
# remedy: 8 -> counts = torch.zeros(16).index_add_(0, target * 4 + predicted, torch.ones(len(target))).view(4, 4) && -9 && 17 -> counts = confusion(logits.argmax(1).reshape(-1), target.reshape(-1)) && 18 -> return loss, counts -> breaks none
