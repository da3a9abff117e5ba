"""Breakpoints inside a library's own `forward` methods, on tiny models with random weights."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.support.agent.scripted_session import ScriptedSession

pytestmark = pytest.mark.matrix

# transformers are imported in the tests: it takes longer than to collect all others
HIDDEN = {"hidden_states": "f32[2, 8, 32]"}
TOKENS = {"input_ids": torch.arange(16).reshape(2, 8)}


def llama() -> torch.nn.Module:
    from transformers import LlamaConfig, LlamaForCausalLM

    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    return LlamaForCausalLM(LlamaConfig(vocab_size=64, num_key_value_heads=2, max_position_embeddings=64, **sizes))


def bert() -> torch.nn.Module:
    from transformers import BertConfig, BertModel

    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    return BertModel(BertConfig(vocab_size=64, max_position_embeddings=64, **sizes))


def t5() -> torch.nn.Module:
    from transformers import T5Config, T5Model

    return T5Model(T5Config(vocab_size=64, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4))


def line_of(module: Any, text: str, behind: str) -> int:
    """The first line that matches `text` after the class `behind`."""
    lines = Path(module.__file__).read_text().splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith(f"class {behind}"))
    return next(number for number in range(begin, len(lines)) if re.search(text, lines[number])) + 1


@pytest.mark.parametrize("backend", ["eager", "inductor"])
@pytest.mark.parametrize(
    ("make", "text", "behind", "times", "expected"),
    [
        (
            llama,
            r"query_states = self\.q_proj",
            "LlamaAttention",
            2,
            HIDDEN,
        ),
        (llama, r"variance = ", "LlamaRMSNorm", 5, HIDDEN),
        (
            bert,
            r"hidden_states = self\.dense",
            "BertIntermediate",
            2,
            HIDDEN,
        ),
        (t5, r"hidden_states = self\.wi\(", "T5DenseActDense", 4, HIDDEN),
    ],
)
def test_a_librarys_forward_stops_at_compile_time(
    make: Callable[[], torch.nn.Module],
    text: str,
    behind: str,
    times: int,
    expected: dict[str, str],
    backend: str,
) -> None:
    torch.manual_seed(0)
    model = make().eval()
    inputs = TOKENS | ({"decoder_input_ids": TOKENS["input_ids"]} if make is t5 else {})
    module = sys.modules[type(model).__module__]
    line = line_of(module, text, behind)
    session = ScriptedSession(just_my_code=True)
    session.break_at(module.__file__, line)
    with session.attached(), torch.no_grad():
        torch.compile(model, backend=backend)(**inputs)
    if make is t5 and torch.__version__ < "2.13":  # breaks at copy.deepcopy: later blocks are frames of their own
        places = {place.split()[0] + ":" + place.split(":")[1] for place in session.places}
        assert places == {f"{behind}.forward:{line}"}
        assert len(session.places) >= times
    else:
        assert session.places == [f"{behind}.forward [0/0]:{line}"] * times
    for stop in session.stops:
        assert {name: stop.locals[name] for name in expected} == expected
        assert stop.frames[0].source is not None
        assert stop.frames[0].source.path == module.__file__
        assert len(stop.frames) > 2, "inlined calls are frames"
