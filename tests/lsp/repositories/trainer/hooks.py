import math
import torch
from engine import LOSS_READY, STEP_END


class Handler:
    def attach(self, engine):
        raise NotImplementedError


class NanGuard(Handler):
    def __init__(self, patience=2):
        self.patience, self.bad = patience, 0

    def attach(self, engine):
        engine.on(LOSS_READY, self.check)

    def check(self, engine, loss, out):
        if torch.isnan(loss) or torch.isinf(loss):  # breaks
            self.bad += 1
        if self.bad > self.patience:
            raise RuntimeError("diverged")


class RunningMean(Handler):
    def __init__(self, beta=0.9):
        self.beta, self.value = beta, None

    def attach(self, engine):
        engine.on(LOSS_READY, self.accumulate)

    def accumulate(self, engine, loss, out):
        v = loss.detach().item()  # breaks
        self.value = v if self.value is None else self.beta * self.value + (1 - self.beta) * v


class Progress(Handler):
    def __init__(self, every=1):
        self.every = every

    def attach(self, engine):
        @engine.on(STEP_END)
        def report(engine, loss):
            if engine.state.step % self.every == 0:
                print(f"step {engine.state.step} loss {loss.item():.4f} ppl {math.exp(min(loss.item(), 20)):.2f}")


def default_handlers(quiet=False):
    hs = [NanGuard(), RunningMean()]
    if not quiet:
        hs.append(Progress(every=2))
    return hs
