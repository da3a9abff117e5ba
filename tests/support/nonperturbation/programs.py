"""Programs to compile: every example of torch.export's database, tiny transformers models, and a few of our own."""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch._export.db.examples import all_examples


class Program(NamedTuple):
    """What to compile and call; `options` go to torch.compile."""

    function: Any
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    options: dict[str, Any] = {}  # noqa: RUF012


def export_example(name: str) -> Program:
    case = all_examples()[name]
    dynamic = {"dynamic": True} if "dynamic" in name else {}
    return Program(case.model, case.example_args, case.example_kwargs, dynamic)


EXPORT_EXAMPLES = sorted(all_examples())


# ---- our own: everything Dynamo holds back, shares or specialises


@dataclasses.dataclass
class Settings:
    scale: int = 3
    name: str = "settings"
    unused: dict[str, list[int]] = dataclasses.field(default_factory=lambda: {"k": [1, 2]})


Pair = collections.namedtuple("Pair", "first second")
GLOBAL_SETTINGS = Settings()
GLOBAL_LIST = [1, 2, 3]


def untouched_arguments(x: Any, settings: Settings, number: int, text: str) -> Any:
    return x + 1, number, text


def pending_mutations(x: Any, settings: Settings, items: list[Any]) -> Any:
    settings.scale += 1
    items.append(x * settings.scale)
    items[0] = x
    table = {"a": x, "b": [item for item in items if isinstance(item, torch.Tensor)]}
    table["c"] = x.sum()
    table.pop("a")
    return table


def closures_and_generators(x: Any) -> Any:
    count, factor = 0, 2

    def inner(y: Any) -> Any:
        nonlocal count
        count += 1
        return y * factor + count

    def numbers(limit: int) -> Any:
        for i in range(limit):
            yield x * i

    for _ in range(3):
        x = inner(x)
    iterator = numbers(4)
    first = next(iterator)
    return first + sum(iterator) + functools.partial(inner)(x), count


def graph_breaks(x: Any) -> Any:
    y = (x + 1) * 2
    torch._dynamo.graph_break()
    z = y.relu()
    print(end="")
    return z + y


def symbolic_sizes(x: Any, pair: Pair) -> Any:
    if x.size(0) > 8:
        x = x[1:]
    size = x.shape[0] * 2
    return x.new_zeros(size) + x.sum() + pair.first + GLOBAL_LIST[1] * GLOBAL_SETTINGS.scale


def contexts_and_errors(x: Any) -> Any:
    with torch.no_grad():
        y = x.clone()
        y.add_(1)
    try:
        raise ValueError("expected")
    except ValueError as error:
        y = y + len(str(error.args[0]))
    return y.view(-1), {str(i): y for i in range(1)}, {*GLOBAL_LIST}


class Catalogue(dict[str, Any]):
    pass


def changing_containers(x: Any) -> Any:
    groups = collections.defaultdict(list)
    groups["a"].append(x)
    order: Any = collections.OrderedDict()
    order["k"] = 1
    catalogue = Catalogue()
    catalogue["x"] = [x]
    catalogue["x"].append(x * 2)
    pair: Any = ([1], {"m": 1})
    pair[0].append(2)
    numbers = iter(range(5))
    first = next(numbers)
    total = 0
    name = "k"
    zero = first

    def bump() -> None:
        nonlocal total
        total += 1

    bump()
    kept = [v * 2 for v in (1, 2)]
    kept += [total, zero]
    turned = [x, x * 3]  # the same text after each change
    turned.reverse()
    turned[0] = x * 4
    groups["a"][0] = turned[0]
    counted = collections.Counter("aab")  # its constructor first fills it with nothing
    counted["b"] += 1
    generated = Pair(x, 2)  # by code that has no source
    name = "k" if generated.second == 2 else ""
    return x + total + len(pair[0]) + order[name] + sum(kept) + next(numbers) + turned[0] * counted["b"]


def trained(x: Any, weight: Any) -> Any:
    loss = (x @ weight).relu().sum()
    loss.backward()
    return loss, weight.grad


LATER: dict[str, Callable[[], Program]] = {
    "trained": lambda: Program(trained, (torch.ones(2, 3), torch.ones(3, 3, requires_grad=True)), {}),
    "symbolic_sizes": lambda: Program(symbolic_sizes, (torch.ones(12), Pair(1, 2)), {}, {"dynamic": True}),
}
"""For what comes after Dynamo."""

OWN: dict[str, Callable[[], Program]] = {
    "untouched_arguments": lambda: Program(untouched_arguments, (torch.ones(3), Settings(), 7, "hey"), {}),
    "pending_mutations": lambda: Program(pending_mutations, (torch.ones(3), Settings(), [1, 2]), {}),
    "closures_and_generators": lambda: Program(closures_and_generators, (torch.ones(3),), {}),
    "graph_breaks": lambda: Program(graph_breaks, (torch.ones(3),), {}),
    "symbolic_sizes": lambda: Program(symbolic_sizes, (torch.ones(12, 2), Pair(1, 2)), {}, {"dynamic": True}),
    "changing_containers": lambda: Program(changing_containers, (torch.ones(3),), {}),
    "contexts_and_errors": lambda: Program(contexts_and_errors, (torch.ones(3),), {}, {"dynamic": True}),
}


# ---- transformers, with random weights


def _model(kind: str, config: str, inputs: dict[str, Any] | None = None, length: int = 8, **sizes: Any) -> Program:
    import transformers

    torch.manual_seed(0)
    model = getattr(transformers, kind)(getattr(transformers, config)(**sizes)).eval()
    ids = torch.arange(2 * length).reshape(2, length) % 30
    return Program(model, (), {"input_ids": ids, **(inputs or {})})


_DECODER = {
    "vocab_size": 32,
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "max_position_embeddings": 32,
    "use_cache": False,
}
_DECODER_INPUT = {"decoder_input_ids": torch.arange(8).reshape(2, 4)}

MODELS: dict[str, Callable[[], Program]] = {
    "bert": lambda: _model(
        "BertModel",
        "BertConfig",
        vocab_size=32,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
    ),
    "llama": lambda: _model("LlamaForCausalLM", "LlamaConfig", **_DECODER),
    "qwen2": lambda: _model("Qwen2ForCausalLM", "Qwen2Config", **_DECODER),
    "gpt2": lambda: _model(
        "GPT2LMHeadModel", "GPT2Config", vocab_size=32, n_embd=16, n_layer=1, n_head=2, n_positions=32, use_cache=False
    ),
    "t5": lambda: _model(
        "T5Model",
        "T5Config",
        _DECODER_INPUT,
        vocab_size=32,
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=1,
        num_heads=2,
        use_cache=False,
    ),
    "bart": lambda: _model(
        "BartModel",
        "BartConfig",
        _DECODER_INPUT,
        vocab_size=32,
        d_model=16,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_position_embeddings=32,
        use_cache=False,
    ),
    "mixtral": lambda: _model(
        "MixtralForCausalLM", "MixtralConfig", num_local_experts=2, num_experts_per_tok=1, **_DECODER
    ),
    "mamba": lambda: _model(
        "MambaForCausalLM",
        "MambaConfig",
        length=1,
        vocab_size=32,
        hidden_size=16,
        state_size=4,
        num_hidden_layers=1,
        use_cache=False,
    ),
    "switch_transformers": lambda: _model(
        "SwitchTransformersModel",
        "SwitchTransformersConfig",
        _DECODER_INPUT,
        vocab_size=32,
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=1,
        num_decoder_layers=1,
        num_sparse_encoder_layers=1,
        num_sparse_decoder_layers=0,
        num_heads=2,
        num_experts=2,
        use_cache=False,
    ),
}
