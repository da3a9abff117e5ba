"""How long a user waits from F5 to the first stop, next to plain Python: with Dynascope, and with debugpy alone.

The program is a compiled Llama of transformers. "run time" is a breakpoint on the line after the first call: that line
is reached once everything is compiled. "compile time" is one in the first function that Dynamo traces; debugpy alone
never stops there. Plain Python prints the time when it comes to the same line. Wall-clock seconds, one after another.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.table import Table

from tests.support.dap.client import DapClient, adapter_environment

DEBUGPY = [sys.executable, "-m", "debugpy.adapter"]
PROGRAM = """\
import torch
from transformers import LlamaConfig, LlamaForCausalLM

configuration = LlamaConfig(
    vocab_size=32000, hidden_size=768, intermediate_size=2048, num_hidden_layers=12,
    num_attention_heads=12, num_key_value_heads=4, max_position_embeddings=64,
)
model = LlamaForCausalLM(configuration)


def forward(tokens):
    return model(tokens, labels=tokens, use_cache=False).loss


loss = torch.compile(forward, backend="eager")(torch.arange(8).reshape(1, 8))
print("compiled", flush=True)
"""
COMPILE_TIME, RUN_TIME = 12, 16
TRACED = "torch._dynamo.comptime.comptime(lambda ctx: print(flush=True))"
"""Prints a line when Dynamo comes to it; added to the program to time it without a debugger."""


def measure(rounds: int = 3) -> Table:
    """Return the median seconds to the first stop, and their ratio to plain Python's to the same line."""
    table = Table(title=f"From launch to the first stop in a compiled Llama, median of {rounds}, seconds")
    for heading in ("session", "compile time", "ratio", "run time", "ratio"):
        table.add_column(heading)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "llama.py"
        program.write_text(PROGRAM)
        first = Path(folder) / "first_line.py"
        first.write_text(PROGRAM.replace("    return model(", f"    {TRACED}\n    return model("))
        plain = _median(rounds, lambda: _plain(first)), _median(rounds, lambda: _plain(program))
        table.add_row("plain Python", f"{plain[0]:.1f}", "1.0", f"{plain[1]:.1f}", "1.0")
        for name, command, more in (
            ("Dynascope", None, {}),
            ("Dynascope, runtime: false", None, {"runtime": False}),
            ("debugpy alone", DEBUGPY, {}),
        ):
            cells = [name]
            for line, alone in zip((COMPILE_TIME, RUN_TIME), plain, strict=True):
                never = (command and line == COMPILE_TIME) or (more and line == RUN_TIME)
                seconds = None if never else _median(rounds, lambda: _stop(program, line, command, more))  # noqa: B023
                cells += ["never", ""] if seconds is None else [f"{seconds:.1f}", f"{seconds / alone:.1f}"]
            table.add_row(*cells)
    return table


def _median(rounds: int, run: Any) -> float:
    return sorted(run() for _ in range(rounds))[rounds // 2]


def _plain(program: Path) -> float:
    begun = time.perf_counter()
    with subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, env=adapter_environment(None)) as process:
        assert process.stdout is not None
        process.stdout.readline()
        seconds = time.perf_counter() - begun
        process.communicate()
        return seconds


def _stop(program: Path, line: int, command: list[str] | None, more: dict[str, Any]) -> float:
    configuration = {"program": str(program), "console": "internalConsole", "justMyCode": True, "record": False, **more}
    spawned = DapClient.spawn(check=False) if command is None else DapClient.spawn(command, check=False)
    with spawned as client:
        begun = time.perf_counter()
        client.launch(configuration, {program: [line]})
        client.wait_for_stop(timeout=900)
        return time.perf_counter() - begun
