import warnings
from typing import List

import torch
import torch.nn as nn
import torch.nn.functional as F

LRELU_SLOPE = 0.1


def get_padding(kernel_size, dilation=1):
    return int((kernel_size * dilation - dilation) / 2)


def peak_normalize(wav: torch.Tensor, limit: float = 0.95) -> torch.Tensor:
    peak = wav.abs().amax()
    if peak > limit:  # breaks
        warnings.warn("clipping detected, rescaling waveform")  # breaks
        wav = wav * (limit / peak)
    return wav


class ResBlock1(nn.Module):
    def __init__(self, channels, kernel_size=3, dilation=(1, 3)):
        super().__init__()
        self.convs = nn.ModuleList(
            [nn.Conv1d(channels, channels, kernel_size, dilation=d, padding=get_padding(kernel_size, d)) for d in dilation]
        )

    def forward(self, x):
        for c in self.convs:
            x = c(F.leaky_relu(x, LRELU_SLOPE)) + x
        return x


class Generator(nn.Module):
    def __init__(self, n_mels=8, ch=16, rates=(4, 2), kernels=(3, 5)):
        super().__init__()
        self.num_kernels = len(kernels)
        self.conv_pre = nn.Conv1d(n_mels, ch, 7, padding=3)
        self.ups = nn.ModuleList()
        self.resblocks = nn.ModuleList()
        for i, r in enumerate(rates):
            self.ups.append(nn.ConvTranspose1d(ch // 2**i, ch // 2 ** (i + 1), r * 2, r, padding=r // 2))
            for k in kernels:
                self.resblocks.append(ResBlock1(ch // 2 ** (i + 1), k))
        self.conv_post = nn.Conv1d(ch // 2 ** len(rates), 1, 7, padding=3)

    def forward(self, x):
        x = self.conv_pre(x)
        for i, up in enumerate(self.ups):
            x = up(F.leaky_relu(x, LRELU_SLOPE))
            xs = None
            for j in range(self.num_kernels):
                y = self.resblocks[i * self.num_kernels + j](x)
                xs = y if xs is None else xs + y
            x = xs / self.num_kernels
        return torch.tanh(self.conv_post(F.leaky_relu(x)) * 50)


class StreamingVocoder:
    """Keeps a tail of each chunk and cross-fades with the next one."""

    def __init__(self, gen, overlap=8):
        self.gen = gen
        self.overlap = overlap
        self.tail = None
        self.rms_log: List[float] = []
        self._step = torch.compile(self._process, backend="eager")

    def _crossfade(self, wav):
        if self.tail is None:
            return wav
        ramp = torch.linspace(0, 1, self.overlap)
        head = wav[..., : self.overlap] * ramp + self.tail * (1 - ramp)
        return torch.cat([head, wav[..., self.overlap :]], dim=-1)

    def _process(self, mel):
        wav = peak_normalize(self.gen(mel))
        rms = wav.pow(2).mean().sqrt()
        self.rms_log.append(float(rms))  # breaks
        wav = self._crossfade(wav)
        self.tail = wav[..., -self.overlap :]
        return wav[..., : -self.overlap]

    def push(self, mel):
        with torch.no_grad():
            return self._step(mel)


if __name__ == "__main__":
    torch.manual_seed(0)
    warnings.simplefilter("ignore")
    voc = StreamingVocoder(Generator().eval())
    audio = torch.cat([voc.push(torch.randn(1, 8, 12)) for _ in range(3)], -1)
    print(audio.shape, ["%.2f" % r for r in voc.rms_log])
