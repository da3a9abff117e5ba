import numpy as np
import torch
from torch import nn


class Mel(nn.Module):
    def __init__(self, n_fft=16, n_mels=4):
        super().__init__()
        self.n_fft = n_fft
        fb = np.abs(np.random.randn(n_mels, n_fft // 2 + 1)).astype("float32")
        self.register_buffer("fb", torch.from_numpy(fb))
        self.register_buffer("window", torch.hann_window(n_fft))

    def forward(self, wav):
        peak = wav.abs().max()
        if peak > 1.0:  # breaks
            wav = wav / peak
        frames = wav.unfold(-1, self.n_fft, self.n_fft // 2) * self.window
        power = torch.fft.rfft(frames).abs().pow(2)
        mel = torch.einsum("mf,btf->bmt", self.fb, power)
        log_mel = mel.clamp(min=1e-5).log10()
        return (log_mel - log_mel.mean()) / (log_mel.std() + 1e-5)


mel = torch.compile(Mel(), backend="eager")
mel(torch.randn(1, 64))
