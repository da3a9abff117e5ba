"""Flow matching in the latent space; the model parts are compiled one by one."""
import logging

import torch

from ldm_nets import DiT, LatentAE
from ldm_process import RectifiedFlow, guidance

log = logging.getLogger("ldm")
COMPILE = {"ae.encoder": True, "ae.decoder": True, "dit": True}


def apply_compile(system, plan, **kw):
    for path, on in plan.items():
        if not on:
            continue
        parent, _, name = path.rpartition(".")
        holder = system[parent] if parent else system
        if isinstance(holder, dict):
            holder[name] = torch.compile(holder[name], **kw)
        else:
            setattr(holder, name, torch.compile(getattr(holder, name), **kw))
        print("compiled", path)


def main():
    torch.manual_seed(0)
    system = {"ae": LatentAE(), "dit": DiT(depth=1)}
    apply_compile(system, COMPILE, backend="eager", fullgraph=True)
    ae, dit = system["ae"], system["dit"]
    flow = RectifiedFlow(dit)
    x, y = torch.randn(4, 16), torch.randint(0, 3, (4,))
    with torch.no_grad():
        z = ae.encoder(x) * ae.scale
    loss = flow.loss(z, y)
    loss.backward()
    if not torch.isfinite(loss):
        raise RuntimeError("bad loss %f" % loss.item())
    with torch.no_grad():
        out = ae.decoder(flow.sample(z.shape, y, steps=2, fn=guidance(2.0)))
    log.info("mean %f", out.mean().item())
    print(loss.item(), out.mean().item(), out.shape)


main()
