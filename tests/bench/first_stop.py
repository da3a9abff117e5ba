"""How long a user waits from F5 to the first stop, next to plain Python: with Dynascope, and with debugpy alone.

The program is the first training step of a small Llama of transformers, compiled with inductor without its caches.
"compile time" is a breakpoint in the first function that Dynamo traces, where debugpy alone never stops; "run time"
is one on the line after the step. Plain Python prints a line when it, or Dynamo, comes to the same one. Bytecode is
written, as pip has done for torch: the first round, which may compile Dynascope's sources, is not the median.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.table import Table

from tests.support.dap.client import ADAPTER, DapClient, adapter_environment

DEBUGPY = [sys.executable, "-m", "debugpy.adapter"]
PROGRAM = """\
import torch
from transformers import LlamaConfig, LlamaForCausalLM

configuration = LlamaConfig(
    vocab_size=32000, hidden_size=768, intermediate_size=2048, num_hidden_layers=4,
    num_attention_heads=12, num_key_value_heads=4, max_position_embeddings=64,
)
model = LlamaForCausalLM(configuration)


def forward(tokens):
    return model(tokens, labels=tokens, use_cache=False).loss


loss = torch.compile(forward, backend="inductor")(torch.arange(8).reshape(1, 8))
loss.backward()
print("compiled", flush=True)
"""
NO_CACHES = {"TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}
COMPILE_TIME, RUN_TIME = 12, 17
TRACED = "torch._dynamo.comptime.comptime(lambda ctx: print(flush=True))"
"""Prints a line when Dynamo comes to it; added to the program to time it without a debugger."""


def measure(rounds: int = 3) -> Table:
    """Return the seconds to the first stop (run time: once), and their ratio to plain Python's to the same line."""
    table = Table(title=f"Seconds from launch to the first stop; compile time: median of {rounds}")
    for heading in ("session", "compile time", "ratio", "run time", "ratio"):
        table.add_column(heading)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "llama.py"
        program.write_text(PROGRAM)
        first = Path(folder) / "first_line.py"
        first.write_text(PROGRAM.replace("    return model(", f"    {TRACED}\n    return model("))
        plain = _median(rounds, lambda: _plain(first)), _plain(program)
        table.add_row("plain Python", f"{plain[0]:.1f}", "1.0", f"{plain[1]:.1f}", "1.0")
        for name, command, more in (
            ("Dynascope", None, {}),
            ("Dynascope, runtime: false", None, {"runtime": False}),
            ("debugpy alone", DEBUGPY, {}),
        ):
            cells = [name]
            for line, alone in zip((COMPILE_TIME, RUN_TIME), plain, strict=True):
                never = (command and line == COMPILE_TIME) or (more and line == RUN_TIME)
                times = rounds if line == COMPILE_TIME else 1
                seconds = None if never else _median(times, lambda: _stop(program, line, command, more))  # noqa: B023
                cells += ["never", ""] if seconds is None else [f"{seconds:.1f}", f"{seconds / alone:.1f}"]
            table.add_row(*cells)
    return table


def _median(rounds: int, run: Any) -> float:
    return sorted(run() for _ in range(rounds))[rounds // 2]


def _plain(program: Path) -> float:
    begun = time.perf_counter()
    with subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, env=_environment()) as process:
        assert process.stdout is not None
        process.stdout.readline()
        seconds = time.perf_counter() - begun
        process.communicate()
        return seconds


def _environment() -> dict[str, str]:
    return adapter_environment({**NO_CACHES, "PYTHONDONTWRITEBYTECODE": ""})


def _stop(program: Path, line: int, command: list[str] | None, more: dict[str, Any]) -> float:
    configuration = {"program": str(program), "console": "internalConsole", "record": False, "env": NO_CACHES, **more}
    spawned = DapClient.spawn(command or ADAPTER, environment=_environment(), check=False)
    with spawned as client:
        begun = time.perf_counter()
        client.launch(configuration, {program: [line]})
        client.wait_for_stop(timeout=900)
        return time.perf_counter() - begun
