"""A dynamic loss scale is read out of a tensor, and handed over as a number."""

import torch


@torch.compile
def unscale(gradients, scale, epsilon):
    inverse = 1.0 / (scale + epsilon)
    finite = torch.stack([each.isfinite().all() for each in gradients]).all()
    return [each * inverse for each in gradients], finite


torch.manual_seed(0)
scale = torch.tensor(8.0)
for step in range(5):
    gradients = [torch.randn(3) * scale, torch.randn(2) * scale]
    unscaled, finite = unscale(gradients, scale.item(), 1e-8)
    scale = scale * 2 if step % 2 else scale / 4
    print(step, sum(each.sum() for each in unscaled).item(), bool(finite))

# function: unscale
# compiles: 2
# over: yes
# next: unscale(gradients, 3.0, 1e-8)
# remedy: 17 -> unscaled, finite = unscale(gradients, scale, 1e-8)   -> compiles 1
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 1
# remedy: +6 -> torch._dynamo.config.capture_scalar_outputs = True   -> compiles 2
# remedy: +6 -> torch._dynamo.config.specialize_float = True   -> compiles 4
