import dataclasses
from dataclasses import dataclass


@dataclass
class LMConfig:
    vocab: int = 40
    dim: int = 16
    heads: int = 2
    n_layer: int = 2
    seq: int = 12
    bos: int = 1
    lr: float = 1e-3
    z_loss: float = 0.0
    seed: int = 0
    compile: bool = True
    backend: str = "eager"
    log_docs: bool = True

    def compile_kwargs(self):
        return {"backend": self.backend, "dynamic": False}


def override(cfg, **kw):
    return dataclasses.replace(cfg, **kw)
