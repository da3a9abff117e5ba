"""Keep the weights with the lowest validation loss: torch.save within the compiled function."""

import io

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
store: dict[str, bytes] = {}


def save(tag: str, module: nn.Module) -> None:
    buffer = io.BytesIO()
    torch.save(module.state_dict(), buffer)
    store[tag] = buffer.getvalue()


@torch.compile(backend="eager")
def validate(inputs: torch.Tensor, targets: torch.Tensor, tag: str) -> torch.Tensor:
    error = (model(inputs).squeeze(-1) - targets).abs()
    save(tag, model)
    return error.mean() + error.max()


for epoch in range(3):
    loss = validate(torch.randn(5, 3), torch.randn(5), f"epoch{epoch % 2}")
    with torch.no_grad():
        model.weight.mul_(0.9)
    print(epoch, round(loss.item(), 4), sorted(store))
restored = torch.load(io.BytesIO(store["epoch1"]))
print(round(restored["weight"].sum().item(), 5))
# breaks: 14 15 16
# compiles: 5
# remedy: -22 && 27 -> loss = validate(torch.randn(5, 3), torch.randn(5), f"epoch{epoch % 2}"); save(f"epoch{epoch % 2}", model) -> breaks none
# remedy: +13 -> @torch.compiler.disable -> breaks 22
