import argparse

import torch

import fc_models
from fc_utils import EarlyStopping, compile_with, scaled_mae


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--model", default="tcn", choices=fc_models.available())
    ap.add_argument("--epochs", type=int, default=2)
    ap.add_argument("--backend", default="eager")
    return ap.parse_args([])


@torch.no_grad()
def validate(step, series):
    return step(*series)


def main(a):
    torch.manual_seed(0)
    comp = compile_with(a.backend)
    model = comp(fc_models.create(a.model, horizon=4))
    stopper = EarlyStopping(patience=1)
    opt = torch.optim.Adam(model.parameters(), 1e-2)
    mae = comp(scaled_mae)
    val = comp(lambda x, y: stopper.observe(mae(model(x), y, x)))
    x, y = torch.randn(6, 16), torch.rand(6, 4)
    for ep in range(a.epochs):
        loss = mae(model(x), y, x)
        opt.zero_grad()
        loss.backward()
        opt.step()
        stop = validate(val, (x, y))
        print(ep, round(loss.item(), 3), stop)
        if stop:
            break


main(parse())
