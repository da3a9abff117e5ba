"""Small functions, each with the calls for which it is compiled.

Some break, some are compiled again, some do neither.
"""

from __future__ import annotations

import contextlib
import copy
import enum
import functools
import itertools
import logging
import math
import random
import struct
import time
import warnings
import zlib
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

Call = Callable[[Callable[..., Any]], object]

logger = logging.getLogger("small_functions")
logger.addHandler(logging.NullHandler())
logger.propagate = False


# Clean: one graph, no break, nothing compiled again.


def linear_relu(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    return torch.relu(x @ weight.t() + bias)


def layer_norm_residual(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    normed = F.layer_norm(x, (x.shape[-1],), weight, bias)
    return x + normed


def rms_norm(x: Tensor, weight: Tensor) -> Tensor:
    variance = x.pow(2).mean(dim=-1, keepdim=True)
    return x * torch.rsqrt(variance + 1e-6) * weight


def causal_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    mask = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()
    return scores.masked_fill(~mask, float("-inf")).softmax(dim=-1) @ v


def fused_attention(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def einsum_bilinear(x: Tensor, w: Tensor, y: Tensor) -> Tensor:
    return torch.einsum("bi,oij,bj->bo", x, w, y)


def rotary_embedding(x: Tensor, positions: Tensor) -> Tensor:
    half = x.shape[-1] // 2
    freqs = 1.0 / (10000 ** (torch.arange(half, dtype=x.dtype) / half))
    angles = positions[:, None] * freqs[None, :]
    x1, x2 = x[..., :half], x[..., half:]
    return torch.cat([x1 * angles.cos() - x2 * angles.sin(), x1 * angles.sin() + x2 * angles.cos()], dim=-1)


def masked_batch_loss(batch: dict[str, Tensor]) -> dict[str, Tensor]:
    losses = F.cross_entropy(batch["logits"], batch["labels"], reduction="none")
    kept = losses * batch["mask"]
    return {"loss": kept.sum() / batch["mask"].sum(), "count": batch["mask"].sum()}


def stack_features(features: list[Tensor]) -> Tensor:
    stacked = torch.stack(features, dim=1)
    return stacked.mean(dim=1) + stacked.amax(dim=1)


def split_heads_comprehension(x: Tensor) -> list[Tensor]:
    return [head.softmax(dim=-1) for head in x.chunk(4, dim=-1)]


def closure_scale(x: Tensor, scales: tuple[float, float]) -> Tensor:
    total = x.new_zeros(())

    def add(scale: float) -> None:
        nonlocal total
        total = total + (x * scale).sum()

    for scale in scales:
        add(scale)
    return total


@dataclass
class Batch:
    inputs: Tensor
    targets: Tensor
    weight: float = 1.0


def dataclass_mse(batch: Batch) -> Tensor:
    return batch.weight * (batch.inputs - batch.targets).square().mean()


def _normalise(x: Tensor, *, dim: int = -1, eps: float = 1e-5, **extra: Any) -> Tensor:
    out = (x - x.mean(dim=dim, keepdim=True)) / (x.std(dim=dim, keepdim=True) + eps)
    return out * extra.get("gain", 1.0)


def kwargs_forwarding(x: Tensor) -> Tensor:
    options: dict[str, Any] = {"dim": 0, "gain": 2.0}
    return _normalise(x, **options) + _normalise(x, **{**options, "dim": 1})


class Moments(NamedTuple):
    mean: Tensor
    var: Tensor


def named_moments(x: Tensor) -> Moments:
    moments = Moments(x.mean(dim=0), x.var(dim=0))
    return moments._replace(var=moments.var.clamp(min=1e-3))


def partial_pipeline(x: Tensor) -> Tensor:
    steps = [functools.partial(torch.clamp, min=-1.0), torch.tanh, lambda t: t * 2.0]
    return functools.reduce(lambda value, step: step(value), steps, x)


def smoothed_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    log_probs = logits.log_softmax(dim=-1)
    nll = -log_probs.gather(1, labels[:, None]).squeeze(1)
    return (0.9 * nll - 0.1 * log_probs.mean(dim=-1)).mean()


class FeedForward(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.down(F.gelu(self.up(self.norm(x))))


class SelfAttention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x: Tensor, *, causal: bool = True) -> Tensor:
        b, t, c = x.shape
        q, k, v = (y.view(b, t, self.heads, c // self.heads).transpose(1, 2) for y in self.qkv(x).split(c, dim=-1))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return self.out(y.transpose(1, 2).reshape(b, t, c))


class ConvStack(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU()) for i, o in [(3, 4), (4, 8)]
        )

    def forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = F.max_pool2d(block(x), 2)
        return x.flatten(1)


# Compiled again: something that was guarded on changes between the calls.


def growing_batch(x: Tensor, w: Tensor) -> Tensor:
    return torch.sigmoid(x @ w)


def growing_both_dims(x: Tensor) -> Tensor:
    return x.softmax(dim=1) * x.shape[0] / x.shape[1]


def batch_of_one(x: Tensor) -> Tensor:
    return (x - x.mean(dim=0)).square().sum(dim=-1)


def size_branch(x: Tensor) -> Tensor:
    if x.shape[0] > 5:
        return x[:5].cumsum(dim=0)
    return F.pad(x, (0, 0, 0, 5 - x.shape[0])).cumsum(dim=0)


def rank_changes(x: Tensor) -> Tensor:
    if x.dim() == 1:
        x = x[None]
    return x.mean(dim=tuple(range(1, x.dim())))


def int_power(x: Tensor, n: int) -> Tensor:
    return x * n + n


def int_loop_count(x: Tensor, steps: int) -> Tensor:
    for _ in range(steps):
        x = x - 0.1 * x.tanh()
    return x


def float_temperature(logits: Tensor, temperature: float) -> Tensor:
    return (logits / temperature).softmax(dim=-1)


def bool_flag(x: Tensor, normalise: bool) -> Tensor:
    if normalise:
        x = F.normalize(x, dim=-1)
    return x @ x.t()


def string_reduction(x: Tensor, reduction: str) -> Tensor:
    if reduction == "mean":
        return x.mean()
    if reduction == "sum":
        return x.sum()
    return x


def optional_mask(x: Tensor, mask: Tensor | None) -> Tensor:
    if mask is not None:
        x = x.masked_fill(mask, 0.0)
    return x.sum(dim=-1)


def number_type_changes(x: Tensor, scale: int | float | bool) -> Tensor:
    return x * scale + 1


def list_length(tensors: list[Tensor]) -> Tensor:
    total = torch.zeros_like(tensors[0])
    for i, tensor in enumerate(tensors):
        total = total + tensor / (i + 1)
    return total


def dict_keys(features: dict[str, Tensor]) -> Tensor:
    return torch.cat([features[name] for name in sorted(features)], dim=-1)


def dtype_changes(x: Tensor) -> Tensor:
    return (x * 2 + 1).sum(dim=0)


def requires_grad_changes(x: Tensor) -> Tensor:
    y = (x * x).sum()
    return y + 1 if y.requires_grad else y - 1


def stride_changes(x: Tensor) -> Tensor:
    return x * 2 + x.sum(dim=0)


def shape_tuple(x: Tensor, shape: tuple[int, ...]) -> Tensor:
    return x.reshape(shape).sum(dim=0)


def activation_argument(x: Tensor, activation: Callable[[Tensor], Tensor]) -> Tensor:
    return activation(x) * x


def train_or_eval(layer: nn.Module, x: Tensor) -> Tensor:
    return layer(x).sum(dim=-1)


_global_step = 0


def global_step_decay(x: Tensor) -> Tensor:
    global _global_step
    _global_step += 1
    return x / _global_step


def recompile_limit_names(x: Tensor, name: str) -> Tensor:
    return x * len(name) + (1.0 if name.endswith("bias") else 0.0)


def recompile_limit_after_break(x: Tensor, name: str) -> Tensor:
    x = x.relu()
    print("layer", name)
    return x + len(name)


class StepCounter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.step = 0

    def forward(self, x: Tensor) -> Tensor:
        self.step += 1
        return self.linear(x) / self.step


class WarmupGate(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.warm = False
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, x: Tensor) -> Tensor:
        if not self.warm:
            self.warm = True
            return x * 0.5
        return x * self.scale


class KeyValueCache(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.proj = nn.Linear(4, 4)
        self.past: list[Tensor] = []

    def forward(self, x: Tensor) -> Tensor:
        self.past.append(self.proj(x))
        return torch.cat(self.past, dim=0).mean(dim=0)


# Graph breaks (a version of torch may trace through some of them, or leave the whole frame to Python).


def print_in_middle(x: Tensor) -> Tensor:
    y = x.relu() + 1
    print("shape", y.shape)
    return y.sum(dim=0)


def break_on_first_line(x: Tensor) -> Tensor:
    torch._dynamo.graph_break()
    y = x * 2
    return y.cos()


def break_on_last_line(x: Tensor) -> list[float]:
    y = (x * 2).cos().sum(dim=0)
    return y.tolist()


def log_norm(x: Tensor) -> Tensor:
    norm = x.norm()
    logger.info("norm of %d rows", x.shape[0])
    return x / norm


def item_scale(x: Tensor) -> Tensor:
    scale = x.abs().max().item()
    return x / (scale + 1e-6)


def data_dependent_if(x: Tensor) -> Tensor:
    y = x * 3
    if y.sum() > 0:
        return y.exp()
    return -y


def data_dependent_while(x: Tensor) -> Tensor:
    while x.norm() > 1.0:
        x = x * 0.5
    return x


def nonzero_rows(x: Tensor) -> Tensor:
    rows = (x > 0).any(dim=1).nonzero().squeeze(1)
    return x[rows].mean(dim=0)


def boolean_mask_select(x: Tensor) -> Tensor:
    positive = x[x > 0]
    return positive.log().sum()


def eval_expression(x: Tensor) -> Tensor:
    y = x + 1
    factor = eval("2 * 3")
    return y * factor


def memoryview_size(x: Tensor) -> Tensor:
    y = x + 1
    size = memoryview(b"abcd").nbytes
    return y * size


def numpy_interp(x: Tensor) -> Tensor:
    y = x.square()
    values = np.interp(y.numpy(), [0.0, 1.0, 2.0], [0.0, 10.0, 20.0])
    return torch.from_numpy(values).to(x.dtype) + x


def c_checksum(x: Tensor, tag: str) -> Tensor:
    bucket = zlib.crc32(tag.encode()) % 7
    return x * bucket


def c_struct_pack(x: Tensor) -> Tensor:
    y = x.sin()
    size = len(struct.pack("<ii", 3, 4))
    return y * size


def _rows_with_break(x: Tensor) -> Iterator[Tensor]:
    for row in x.unbind(0):
        torch._dynamo.graph_break()
        yield row * 2


def break_in_generator(x: Tensor) -> Tensor:
    y = x + 1
    return torch.stack(list(_rows_with_break(y))).sum(dim=0)


def break_in_try_finally(x: Tensor) -> tuple[Tensor, list[str]]:
    events = ["start"]
    y = x.exp()
    try:
        print("inside try")
        y = y + 1
    finally:
        events.append("finally")
    return y.log(), events


def break_under_no_grad(x: Tensor) -> Tensor:
    y = x * 2
    with torch.no_grad():
        z = y.sin()
        torch._dynamo.graph_break()
        z = z.cos()
    return y + z


@contextlib.contextmanager
def _section(name: str, seen: list[str]) -> Iterator[None]:
    seen.append(name)
    yield
    seen.append("end " + name)


def break_under_context_manager(x: Tensor) -> tuple[Tensor, list[str]]:
    seen: list[str] = []
    with _section("forward", seen):
        y = x.tanh()
        print("in section")
        y = y + 1
    return y * 2, seen


def _report(x: Tensor, label: str) -> Tensor:
    y = x * 2
    print(label)
    return y + 1


def helper_breaks_twice(x: Tensor) -> Tensor:
    a = _report(x, "first")
    b = _report(a.relu(), "second")
    return a + b


def break_in_loop(x: Tensor) -> Tensor:
    for _ in range(3):
        x = x.sin() + 0.1
        torch._dynamo.graph_break()
        x = x * 2
    return x.sum()


def break_in_loop_over_layers(x: Tensor, weights: list[Tensor]) -> Tensor:
    for i, weight in enumerate(weights):
        x = torch.relu(x @ weight)
        print("layer", i)
    return x.mean()


def break_in_helper_in_loop(x: Tensor, labels: list[str]) -> Tensor:
    for label in labels:
        x = _report(x.tanh(), label)
    return x.sum(dim=0)


def break_in_nested_function(x: Tensor) -> Tensor:
    offset = x.mean()

    def centre(t: Tensor) -> Tensor:
        t = t - offset
        print("centred")
        return t.abs()

    return centre(x * 2) + centre(x)


def _noisy_square(x: Tensor) -> Tensor:
    print("square")
    return x * x


def break_in_list_comprehension(x: Tensor) -> Tensor:
    y = x + 1
    parts = [_noisy_square(part) for part in y.chunk(2, dim=0)]
    return torch.cat(parts).sum(dim=1)


def two_breaks(x: Tensor) -> Tensor:
    y = x.sin()
    print("one")
    z = y + x.cos()
    threshold = z.mean().item()
    return z * threshold


def break_in_one_branch(x: Tensor, verbose: bool) -> Tensor:
    y = x.sigmoid()
    if verbose:
        print("verbose")
        y = y * 2
    return y - 0.5


def break_and_changing_sizes(x: Tensor) -> Tensor:
    y = x.cumsum(dim=0)
    print("rows", len(x))
    return y.mean(dim=0) * x.shape[0]


def break_and_changing_strings(x: Tensor, mode: str) -> Tensor:
    y = x + 1
    torch._dynamo.graph_break()
    return y.sum() if mode == "sum" else y.mean()


class PrintShape(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        print("shape", tuple(x.shape))
        return x * 1.0


class ClippedLinear(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.clipped = 0

    def forward(self, x: Tensor) -> Tensor:
        y = self.linear(x)
        if y.abs().max() > 0.5:
            self.clipped += 1
            y = y.clamp(-0.5, 0.5)
        return y * 2


# Other Python: random numbers, time, copies, sorting, in-place changes, context managers, autograd.


def random_jitter(x: Tensor) -> Tensor:
    return x + random.random() * 0.1 + random.uniform(-1.0, 1.0)


def random_choice(x: Tensor) -> Tensor:
    dim = random.choice([0, 1])
    return x.sum(dim=dim)


def seeded_noise(x: Tensor) -> Tensor:
    torch.manual_seed(3)
    return x + torch.randn_like(x)


def dropout_train(x: Tensor) -> Tensor:
    return F.dropout(x, p=0.5, training=True).sum(dim=0)


def timed_matmul(x: Tensor) -> tuple[Tensor, bool]:
    start = time.perf_counter()
    y = x @ x.t()
    elapsed = time.perf_counter() - start
    return y, elapsed >= 0.0


def deepcopy_config(x: Tensor) -> tuple[Tensor, dict[str, Any]]:
    config = {"scale": 2.0, "dims": [0, 1]}
    changed = copy.deepcopy(config)
    changed["dims"].append(2)
    return x * changed["scale"] + len(config["dims"]), changed


def copy_tensor_list(tensors: list[Tensor]) -> list[Tensor]:
    out = copy.copy(tensors)
    out.reverse()
    out[0] = out[0] + out[-1]
    return out


def sort_by_length(sequences: list[Tensor]) -> Tensor:
    ordered = sorted(sequences, key=lambda s: s.shape[0], reverse=True)
    longest = ordered[0].shape[0]
    return torch.stack([F.pad(s, (0, longest - s.shape[0])) for s in ordered])


def sort_by_value(tensors: list[Tensor]) -> Tensor:
    ordered = sorted((t * 2 for t in tensors), key=lambda t: t.sum().item())
    return ordered[0] - ordered[-1]


def topk_gather(logits: Tensor, values: Tensor) -> Tensor:
    top = torch.topk(logits, k=2, dim=-1)
    return (values.gather(1, top.indices) * top.values.softmax(dim=-1)).sum(dim=-1)


def in_place_accumulate(total: Tensor, update: Tensor) -> Tensor:
    total.mul_(0.9).add_(update, alpha=0.1)
    return total.sqrt()


def in_place_slices(x: Tensor) -> Tensor:
    out = torch.zeros_like(x)
    out[:, 0] = x[:, -1]
    out[x > 0] = 1.0
    out[0] += 2.0
    return out


def ema_update(params: list[Tensor], shadow: list[Tensor]) -> Tensor:
    with torch.no_grad():
        for p, s in zip(params, shadow, strict=True):
            s.lerp_(p, 0.1)
    return sum((s.sum() for s in shadow), start=torch.zeros(()))


def sgd_momentum_step(param: Tensor, grad: Tensor, state: dict[str, Any]) -> Tensor:
    if "momentum" not in state:
        state["momentum"] = grad.clone()
    else:
        state["momentum"] = 0.9 * state["momentum"] + grad
    return param - 0.1 * state["momentum"]


def autocast_matmul(x: Tensor, w: Tensor) -> Tensor:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = x @ w
    return y.float() + x


class Recorder:
    def __init__(self) -> None:
        self.events: list[str] = []

    def __enter__(self) -> Recorder:
        self.events.append("enter")
        return self

    def __exit__(self, *exc: object) -> None:
        self.events.append("exit")


def class_context_manager(x: Tensor) -> tuple[Tensor, list[str]]:
    with Recorder() as recorder:
        y = x.erf()
        recorder.events.append("body")
    return y + 1, recorder.events


def exit_stack(x: Tensor) -> Tensor:
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.no_grad())
        y = x * x
    return y + x


def profiled_block(x: Tensor) -> Tensor:
    with torch.profiler.record_function("block"):
        y = x.softmax(dim=-1)
    return y * 2


class ScaledRelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, scale: float) -> Tensor:
        ctx.save_for_backward(x)
        ctx.scale = scale
        return x.clamp(min=0) * scale

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (x,) = ctx.saved_tensors
        return grad * (x > 0) * ctx.scale, None


def custom_autograd_function(x: Tensor) -> Tensor:
    return ScaledRelu.apply(x, 2.0) + x.detach()


def inner_gradient(x: Tensor) -> Tensor:
    x = x.detach().requires_grad_()
    energy = (x**3).sum()
    (grad,) = torch.autograd.grad(energy, x)
    return x.detach() - 0.1 * grad


def func_gradient(x: Tensor) -> Tensor:
    return torch.func.grad(lambda t: t.sin().sum())(x)


def vmap_distance(x: Tensor, y: Tensor) -> Tensor:
    return torch.vmap(lambda a: (a - y).norm(dim=-1))(x)


def caught_exception(x: Tensor) -> Tensor:
    try:
        if x.shape[1] != 3:
            raise ValueError("three columns are expected")
        return x
    except ValueError:
        return x[:, :3] * 2


def warning_once(x: Tensor) -> Tensor:
    y = x.ceil()
    warnings.warn("rounded up", stacklevel=2)
    return y + 1


class Pooling(enum.Enum):
    MEAN = "mean"
    MAX = "max"


def enum_pooling(x: Tensor, pooling: Pooling) -> Tensor:
    return x.mean(dim=1) if pooling is Pooling.MEAN else x.amax(dim=1)


def sliding_window(x: Tensor) -> Tensor:
    window: deque[Tensor] = deque(maxlen=2)
    out = []
    for row in x.unbind(0):
        window.append(row)
        out.append(sum(window))
    return torch.stack(out)


def itertools_pairs(tensors: list[Tensor]) -> Tensor:
    return torch.stack([(a * b).sum() for a, b in itertools.combinations(tensors, 2)])


def grouped_by_name(named: dict[str, Tensor]) -> dict[str, Tensor]:
    groups: defaultdict[str, list[Tensor]] = defaultdict(list)
    for name, tensor in named.items():
        groups[name.split(".")[0]].append(tensor)
    return {f"{key}/{len(values)}": torch.stack(values).sum(dim=0) for key, values in groups.items()}


def counted_names(x: Tensor, names: list[str]) -> Tensor:
    counts = Counter(names)
    return x * counts["linear"] + counts["norm"]


@functools.cache
def _frequencies(n: int) -> tuple[float, ...]:
    return tuple(1.0 / (i + 1) for i in range(n))


def cached_frequencies(x: Tensor) -> Tensor:
    return x * torch.tensor(_frequencies(4))


@dataclass
class RunningMean:
    count: int = 0
    history: list[Tensor] = field(default_factory=list)


def running_mean(x: Tensor, state: RunningMean) -> Tensor:
    state.count += 1
    state.history.append(x.mean())
    return torch.stack(state.history).sum() / state.count


def functions() -> dict[str, tuple[Callable[..., Any], list[tuple[Any, ...]]]]:
    """Return each function or module with the arguments of its calls, all freshly built; global state is reset."""
    global _global_step
    _global_step = 0
    _frequencies.cache_clear()
    random.seed(0)
    torch.manual_seed(0)
    rand = torch.randn

    def same(*shapes: tuple[int, ...], times: int = 3) -> list[tuple[Any, ...]]:
        return [tuple(rand(*shape) for shape in shapes) for _ in range(times)]

    def labels() -> Tensor:
        return torch.randint(0, 5, (6,))

    def batch() -> dict[str, Tensor]:
        return {"logits": rand(6, 5), "labels": labels(), "mask": torch.tensor([1.0, 1.0, 0.0, 1.0, 1.0, 0.0])}

    def lengths(*sizes: int) -> list[Tensor]:
        return [rand(size) for size in sizes]

    names = [f"block{i}.{kind}" for i in range(5) for kind in ("weight", "bias")]
    optimiser_state: dict[str, Any] = {}
    running = RunningMean()

    return {
        # Clean.
        "linear_relu": (linear_relu, same((2, 4), (3, 4), (3,))),
        "layer_norm_residual": (layer_norm_residual, same((2, 4), (4,), (4,))),
        "rms_norm": (rms_norm, same((2, 3, 4), (4,), times=2)),
        "causal_attention": (causal_attention, same((2, 5, 4), (2, 5, 4), (2, 5, 4))),
        "fused_attention": (fused_attention, same((1, 2, 5, 4), (1, 2, 5, 4), (1, 2, 5, 4), times=2)),
        "einsum_bilinear": (einsum_bilinear, same((2, 3), (5, 3, 4), (2, 4))),
        "rotary_embedding": (rotary_embedding, [(rand(5, 8), torch.arange(5) + start) for start in (0, 5, 10)]),
        "masked_batch_loss": (masked_batch_loss, [(batch(),) for _ in range(3)]),
        "stack_features": (stack_features, [(lengths(4, 4, 4),) for _ in range(2)]),
        "split_heads_comprehension": (split_heads_comprehension, same((2, 8), times=4)),
        "closure_scale": (closure_scale, [(rand(3, 4), (0.5, 2.0)) for _ in range(3)]),
        "dataclass_mse": (dataclass_mse, [(Batch(rand(3, 4), rand(3, 4), 0.5),) for _ in range(3)]),
        "kwargs_forwarding": (kwargs_forwarding, same((3, 4), times=2)),
        "named_moments": (named_moments, same((6, 4))),
        "partial_pipeline": (partial_pipeline, same((3, 4))),
        "smoothed_cross_entropy": (smoothed_cross_entropy, [(rand(6, 5), labels()) for _ in range(3)]),
        "FeedForward": (FeedForward(4), same((2, 4))),
        "SelfAttention": (SelfAttention(8, 2), same((2, 5, 8))),
        "ConvStack": (ConvStack().eval(), same((2, 3, 8, 8), times=2)),
        # Compiled again.
        "growing_batch": (growing_batch, [(rand(n, 4), rand(4, 3)) for n in (2, 3, 5, 7)]),
        "growing_both_dims": (growing_both_dims, [(rand(n, m),) for n, m in ((2, 3), (4, 3), (4, 5), (6, 7))]),
        "batch_of_one": (batch_of_one, [(rand(n, 4),) for n in (8, 1, 6)]),
        "size_branch": (size_branch, [(rand(n, 2),) for n in (3, 4, 6, 9)]),
        "rank_changes": (rank_changes, [(rand(6),), (rand(2, 3),), (rand(2, 3, 4),)]),
        "int_power": (int_power, [(rand(4), n) for n in (2, 3, 4, 5)]),
        "int_loop_count": (int_loop_count, [(rand(4), n) for n in (1, 2, 3)]),
        "float_temperature": (float_temperature, [(rand(2, 4), t) for t in (0.5, 0.7, 1.3)]),
        "bool_flag": (bool_flag, [(rand(3, 4), flag) for flag in (True, False, True)]),
        "string_reduction": (string_reduction, [(rand(3, 4), how) for how in ("mean", "sum", "none", "mean")]),
        "optional_mask": (optional_mask, [(rand(2, 4), None), (rand(2, 4), rand(2, 4) > 0), (rand(2, 4), None)]),
        "number_type_changes": (number_type_changes, [(rand(4), 2), (rand(4), 2.5), (rand(4), True)]),
        "list_length": (list_length, [(lengths(*[4] * n),) for n in (1, 2, 3)]),
        "dict_keys": (
            dict_keys,
            [({"a": rand(3), "b": rand(3)},), ({"b": rand(3), "c": rand(3)},), ({"a": rand(3), "b": rand(3)},)],
        ),
        "dtype_changes": (
            dtype_changes,
            [(rand(3, 4),), (rand(3, 4, dtype=torch.float64),), (torch.arange(12).reshape(3, 4),)],
        ),
        "requires_grad_changes": (
            requires_grad_changes,
            [(rand(4),), (rand(4, requires_grad=True),), (rand(4),)],
        ),
        "stride_changes": (stride_changes, [(rand(4, 4),), (rand(4, 4).t(),), (rand(4, 8)[:, ::2],)]),
        "shape_tuple": (shape_tuple, [(rand(12), shape) for shape in ((3, 4), (4, 3), (2, 2, 3))]),
        "activation_argument": (activation_argument, [(rand(4), f) for f in (torch.relu, torch.tanh, F.silu)]),
        "train_or_eval": (
            train_or_eval,
            [
                (nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)).eval(), rand(2, 4)),
                (nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5)).train(), rand(2, 4)),
                (nn.Linear(4, 4), rand(2, 4)),
            ],
        ),
        "global_step_decay": (global_step_decay, same((4,), times=4)),
        "recompile_limit_names": (recompile_limit_names, [(rand(4), name) for name in names]),
        "recompile_limit_after_break": (recompile_limit_after_break, [(rand(4), "x" * n) for n in range(1, 11)]),
        "StepCounter": (StepCounter(), same((2, 4), times=4)),
        "WarmupGate": (WarmupGate(), same((2, 4))),
        "KeyValueCache": (KeyValueCache(), same((1, 4), times=4)),
        # Graph breaks.
        "print_in_middle": (print_in_middle, same((3, 4))),
        "break_on_first_line": (break_on_first_line, same((4,), times=2)),
        "break_on_last_line": (break_on_last_line, same((3, 4))),
        "log_norm": (log_norm, same((3, 4))),
        "item_scale": (item_scale, same((4,))),
        "data_dependent_if": (data_dependent_if, [(torch.ones(4),), (-torch.ones(4),), (torch.ones(4) * 0.1,)]),
        "data_dependent_while": (data_dependent_while, [(torch.ones(4) * n,) for n in (0.1, 1.0, 2.0)]),
        "nonzero_rows": (nonzero_rows, [(torch.eye(4)[:n].repeat(2, 1),) for n in (2, 2, 3)]),
        "boolean_mask_select": (boolean_mask_select, same((3, 4), times=2)),
        "eval_expression": (eval_expression, same((4,), times=2)),
        "memoryview_size": (memoryview_size, same((4,), times=2)),
        "numpy_interp": (numpy_interp, same((4,), times=2)),
        "c_checksum": (c_checksum, [(rand(4), "train") for _ in range(2)]),
        "c_struct_pack": (c_struct_pack, same((4,), times=2)),
        "break_in_generator": (break_in_generator, same((3, 4), times=2)),
        "break_in_try_finally": (break_in_try_finally, same((4,))),
        "break_under_no_grad": (break_under_no_grad, [(rand(4, requires_grad=True),) for _ in range(3)]),
        "break_under_context_manager": (break_under_context_manager, same((4,), times=2)),
        "helper_breaks_twice": (helper_breaks_twice, same((3, 4))),
        "break_in_loop": (break_in_loop, same((4,))),
        "break_in_loop_over_layers": (
            break_in_loop_over_layers,
            [(rand(2, 4), [rand(4, 4), rand(4, 4)]) for _ in range(2)],
        ),
        "break_in_helper_in_loop": (break_in_helper_in_loop, [(rand(3, 4), ["a", "b"]) for _ in range(3)]),
        "break_in_nested_function": (break_in_nested_function, same((4,))),
        "break_in_list_comprehension": (break_in_list_comprehension, same((4, 3), times=2)),
        "two_breaks": (two_breaks, same((4,))),
        "break_in_one_branch": (break_in_one_branch, [(rand(4), flag) for flag in (False, True, False, True)]),
        "break_and_changing_sizes": (break_and_changing_sizes, [(rand(n, 3),) for n in (2, 4, 5, 8)]),
        "break_and_changing_strings": (
            break_and_changing_strings,
            [(rand(4), mode) for mode in ("sum", "mean", "sum")],
        ),
        "break_in_sequential": (
            nn.Sequential(OrderedDict(up=nn.Linear(4, 8), shape=PrintShape(), act=nn.ReLU(), down=nn.Linear(8, 4))),
            same((2, 4)),
        ),
        "ClippedLinear": (ClippedLinear(), [(torch.full((2, 4), n),) for n in (0.0, 10.0, 20.0)]),
        # Other Python.
        "random_jitter": (random_jitter, same((4,))),
        "random_choice": (random_choice, same((4, 4))),
        "seeded_noise": (seeded_noise, same((4,), times=2)),
        "dropout_train": (dropout_train, same((3, 4))),
        "timed_matmul": (timed_matmul, same((3, 4))),
        "deepcopy_config": (deepcopy_config, same((4,), times=2)),
        "copy_tensor_list": (copy_tensor_list, [(lengths(4, 4, 4),) for _ in range(2)]),
        "sort_by_length": (sort_by_length, [(lengths(3, 5, 4),), (lengths(3, 5, 4),), (lengths(6, 2, 4),)]),
        "sort_by_value": (sort_by_value, [(lengths(4, 4, 4),) for _ in range(2)]),
        "topk_gather": (topk_gather, same((3, 5), (3, 5))),
        "in_place_accumulate": (in_place_accumulate, [(torch.ones(4), torch.rand(4)) for _ in range(3)]),
        "in_place_slices": (in_place_slices, same((3, 4))),
        "ema_update": (ema_update, [([rand(4), rand(2, 2)], [rand(4), rand(2, 2)]) for _ in range(3)]),
        "sgd_momentum_step": (sgd_momentum_step, [(rand(4), rand(4), optimiser_state) for _ in range(3)]),
        "autocast_matmul": (autocast_matmul, same((4, 4), (4, 4), times=2)),
        "class_context_manager": (class_context_manager, same((4,), times=2)),
        "exit_stack": (exit_stack, [(rand(4, requires_grad=True),) for _ in range(2)]),
        "profiled_block": (profiled_block, same((2, 4), times=2)),
        "custom_autograd_function": (custom_autograd_function, [(rand(4, requires_grad=True),) for _ in range(3)]),
        "inner_gradient": (inner_gradient, same((4,))),
        "func_gradient": (func_gradient, same((4,), times=2)),
        "vmap_distance": (vmap_distance, same((3, 4), (5, 4), times=2)),
        "caught_exception": (caught_exception, [(rand(2, 3),), (rand(2, 4),), (rand(2, 3),)]),
        "warning_once": (warning_once, same((4,), times=2)),
        "enum_pooling": (enum_pooling, [(rand(2, 4), p) for p in (Pooling.MEAN, Pooling.MAX, Pooling.MEAN)]),
        "sliding_window": (sliding_window, same((4, 3), times=2)),
        "itertools_pairs": (itertools_pairs, [(lengths(4, 4, 4),) for _ in range(2)]),
        "grouped_by_name": (
            grouped_by_name,
            [({"enc.w": rand(3), "enc.b": rand(3), "dec.w": rand(3)},) for _ in range(2)],
        ),
        "counted_names": (counted_names, [(rand(4), ["linear", "norm", "linear"]) for _ in range(2)]),
        "cached_frequencies": (cached_frequencies, same((3, 4), times=2)),
        "running_mean": (running_mean, [(rand(4), running) for _ in range(4)]),
    }


FUNCTIONS: dict[str, tuple[Callable[..., Any], list[tuple[Any, ...]]]] = functions()
