"""One augmentation is made, and compiled, for each strength."""

import torch


def make_augmentation(strength, shift):
    @torch.compile
    def augment(image):
        return (image * strength + shift).clamp(0, 1)

    return augment


torch.manual_seed(0)
image = torch.rand(3, 4)
for strength in (1, 2, 3, 4):
    augment = make_augmentation(strength, 0.1)
    print(strength, augment(image).sum().item())

# function: make_augmentation.<locals>.augment
# compiles: 2
# over: yes
# next: make_augmentation(7, 0.1)(image)
# remedy: 17 -> augment = make_augmentation(torch.tensor(float(strength)), 0.1)   -> compiles 1
# remedy: 7 -> @torch.compile(dynamic=True)   -> compiles 1
