import torch

import hooks
from engine import Engine
from seqloss import MaskedNLL, PackedTagger


def fake_loader(n, bs=4, T=6):
    g = torch.Generator().manual_seed(1)
    for i in range(n):
        x = torch.randint(1, 20, (bs, T), generator=g)
        y = torch.randint(1, 5, (bs, T), generator=g)
        for b in range(bs):
            x[b, 2 + b:] = 0
            y[b, 2 + b:] = 0
        yield x, y


if __name__ == "__main__":
    torch.manual_seed(0)
    model = PackedTagger()
    eng = Engine(
        model, MaskedNLL(), torch.optim.Adam(model.parameters(), 1e-2),
        compile_cfg={"enabled": True, "backend": "eager", "dynamic": False})
    handlers = hooks.default_handlers()
    for h in handlers:
        h.attach(eng)
    st = eng.run(list(fake_loader(3)))
    print(st.step, handlers[1].value)
