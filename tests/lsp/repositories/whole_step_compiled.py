# everything in one compiled step, including logging and checkpointing
import io
import os
import sys
import tempfile
import torch
import torch.nn as nn

CKPT = os.path.join(tempfile.gettempdir(), "whole_step_demo.pt")


class Logger:
    def __init__(self):
        self.rows = []
        self.stream = io.StringIO()

    def log(self, step, **kw):
        self.rows.append((step, kw))
        self.stream.write(f"{step}: {kw}\n")  # breaks


def make_model():
    return nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.GELU(), nn.Linear(8, 1))


model = make_model()
opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
logger = Logger()


def compute_loss(x, y):
    pred = model(x).squeeze(-1)
    return nn.functional.mse_loss(pred, y)


def save_checkpoint(step):
    torch.save({"model": model.state_dict(), "step": step}, CKPT)  # breaks


@torch.compile(backend="eager")
def train_step(step, x, y):
    opt.zero_grad(set_to_none=True)  # breaks
    loss = compute_loss(x, y)
    loss.backward()  # breaks
    gn = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()  # breaks
    logger.log(step, loss=loss.item(), grad_norm=gn.item())  # breaks
    if step % 2 == 1:
        save_checkpoint(step)
    return loss.detach()


@torch.compile(backend="eager")
def eval_step(x, y):
    model.eval()
    with torch.no_grad():
        l = compute_loss(x, y)
    model.train()
    return l


torch.manual_seed(0)
for s in range(2):
    train_step(s, torch.randn(8, 4), torch.randn(8))
print(eval_step(torch.randn(8, 4), torch.randn(8)))
sys.stdout.write(logger.stream.getvalue())
os.remove(CKPT)
