import math
import logging
import numpy as np
import torch
import torch.nn as nn

log = logging.getLogger(__name__)


def hz_to_mel(f):
    return 2595.0 * math.log10(1.0 + f / 700.0)


def mel_filterbank(n_fft, n_mels, sr):
    pts = np.linspace(hz_to_mel(0), hz_to_mel(sr / 2), n_mels + 2)
    hz = 700.0 * (10 ** (pts / 2595.0) - 1)
    bins = np.floor((n_fft + 1) * hz / sr).astype(int)
    fb = np.zeros((n_mels, n_fft // 2 + 1), dtype=np.float32)
    for m in range(1, n_mels + 1):
        l, c, r = bins[m - 1], bins[m], bins[m + 1]
        for k in range(l, c):
            fb[m - 1, k] = (k - l) / max(c - l, 1)
        for k in range(c, r):
            fb[m - 1, k] = (r - k) / max(r - c, 1)
    return torch.from_numpy(fb)


class LogMel(nn.Module):
    def __init__(self, n_fft=64, hop=16, n_mels=8, sr=8000):
        super().__init__()
        self.n_fft, self.hop = n_fft, hop
        self.register_buffer("window", torch.hann_window(n_fft))
        self.register_buffer("fb", mel_filterbank(n_fft, n_mels, sr))

    def forward(self, wav):
        if wav.dim() == 1:
            wav = wav[None]
        frames = wav.unfold(-1, self.n_fft, self.hop) * self.window
        spec = torch.fft.rfft(frames).abs().pow(2)
        mel = spec @ self.fb.t()
        return mel.clamp(min=1e-5).log()


def trim_silence(wav, thr=0.01):
    energy = wav.abs()
    idx = torch.where(energy > thr)[0]  # breaks
    start = idx[0]
    end = idx[-1] + 1
    return wav[start:end]  # breaks


def peak_normalize(wav):
    peak = wav.abs().max()
    if peak > 1.0:  # breaks
        log.warning("clipping detected, normalising")  # breaks
        wav = wav / peak
    return wav


class Frontend(nn.Module):
    def __init__(self):
        super().__init__()
        self.mel = LogMel()

    def forward(self, wav):
        wav = peak_normalize(wav)
        wav = trim_silence(wav)
        pad = (-wav.size(-1)) % 16
        wav = nn.functional.pad(wav, (0, pad))
        return self.mel(wav)


fe = Frontend()
fe.compile(backend="eager")
sig = torch.cat([torch.zeros(100), 2 * torch.sin(torch.arange(400) * 0.3), torch.zeros(60)])
print(fe(sig).shape)
