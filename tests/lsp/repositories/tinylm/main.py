"""Packed-sequence LM pretraining with per-document masks."""
import torch

from lm_config import LMConfig, override
from lm_data import PackedLoader
from lm_model import TinyLM


def build(cfg):
    model = TinyLM(cfg)
    if cfg.compile:
        model = torch.compile(model, **cfg.compile_kwargs())
    return model


def train(cfg):
    torch.manual_seed(cfg.seed)
    model = build(cfg)
    opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    for step, (tok, tgt) in enumerate(PackedLoader(cfg, n_batches=2)):
        loss, info = model(tok, tgt)
        loss.backward()
        opt.step()
        opt.zero_grad()
        print(f"step {step} loss {loss.item():.3f} z {float(info['z']):.3f}")


if __name__ == "__main__":
    train(override(LMConfig(), n_layer=1, z_loss=1e-3))
