"""Results in a class that is made in the compiled function with the fields of the day."""

import torch
from torch import nn


def result_of(fields: dict[str, torch.Tensor]) -> object:
    class Result:
        __slots__ = tuple(fields)

        def __init__(self) -> None:
            for name, value in fields.items():
                setattr(self, name, value)

    return Result()


class Detector(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.box, self.label = nn.Linear(4, 4), nn.Linear(4, 3)

    def forward(self, features: torch.Tensor, labelled: bool) -> object:
        boxes = self.box(features).sigmoid()
        fields = {"boxes": boxes, "area": boxes.prod(-1)}
        if labelled:
            fields["labels"] = self.label(features).argmax(-1)
        return result_of(fields)


torch.manual_seed(0)
detector = torch.compile(Detector(), backend="eager")
for labelled in (False, True, True):
    result = detector(torch.randn(2, 4), labelled)
    print(type(result).__slots__, round(result.area.sum().item(), 4))
# breaks: 8
# compiles: 3
# remedy: 28 -> return fields && 34 -> result = result_of(detector(torch.randn(2, 4), labelled)) -> breaks none
