"""What breakpoints that were never hit say at the end, next to the truth: `tests/programs/never_hit` says why."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from tests.support.dap.client import DapClient, Stop
from tests.support.debugpy import WITH_AND_WITHOUT_DEBUGPY
from tests.support.marks import PROGRAMS, labels

FOLDER = PROGRAMS / "never_hit"
EVERYDAY, FAMILY, LOADING = FOLDER / "everyday.py", FOLDER / "family.py", FOLDER / "loading.py"
CHILD, UNLISTED, UNIMPORTED = FOLDER / "child.py", FOLDER / "unlisted.py", FOLDER / "unimported.py"
NOT_RUN = ", and debugpy saw no run of this line"
UNSEEN = (
    NOT_RUN
    + ". It does not see what runs as a thread or the program ends, nor what Dynamo itself runs while it compiles "
    "(`debugDynamo` does)"
)
AFTER_BREAK = "Dynamo cannot resume after a graph break in unresumed, and leaves the rest of it uncompiled"
DISABLED = "is under torch.compiler.disable: Dynamo does not trace it"
OTHERS = " in this process, which started others"
CONDITIONS: dict[str, dict[str, Any]] = {
    "condition": {"condition": "x.shape[0] == 9"},
    "uncompiled_condition": {"condition": "x.shape[0] == 9"},
    "count": {"hitCondition": "5"},
}


def untraced(name: str) -> tuple[str, str]:
    """What is said of a function that nothing called, with debugpy and without."""
    text = f"Dynamo did not trace {name}"
    return f"{text}{UNSEEN}.", f"{text}: it did not run, or only uncompiled."


def never_traced(reason: str) -> tuple[str, str]:
    """What is said of a line that Dynamo does not trace, and that did not run."""
    return f"{reason}{NOT_RUN}.", f"{reason}; without debugpy this line cannot stop."


def unrun(text: str) -> tuple[str, str]:
    """What is said of a line to which neither Dynamo nor the running program came."""
    return f"{text}{NOT_RUN}.", f"{text}."


def always(text: str) -> tuple[str, str]:
    return text, text


SKIPPED = (
    ": an error was suppressed during compilation" if version("torch") >= "2.13" else ""  # before it said none
)
NO_OPERATIONS = (
    ": Dynamo decided to skip the frame while tracing: No ops traced for the FX graph. `torch.compile` will skip the "
    "frame and fall back to eager"
    if version("torch") >= "2.13"
    else ""
)
TRUTH: dict[str, tuple[str, str]] = {
    "module_branch": never_traced("Dynamo never traces module-level code"),
    "class_body": never_traced("Dynamo never traces module-level code"),
    "never_called": untraced("never_called"),
    "method": untraced("Model.unused"),
    "wrapper": untraced("doubled.<locals>.wrapper"),
    "decorated": untraced("decorated"),
    "nested_uncreated": untraced("outer_uncalled.<locals>.inner"),
    "nested_uncalled": untraced("outer.<locals>.inner"),
    "uncompiled_branch": untraced("runs"),  # it ran, and took another branch
    "generator": untraced("generator"),  # it was made, and not iterated
    "fake": ("", untraced("_")[1]),  # torch calls it, and debugpy stops there
    "one_lambda": ("", untraced("<lambda>")[1]),  # with debugpy its definition stops
    "uncompiled": ("", untraced("called_uncompiled")[1]),
    "branch": unrun("Dynamo traced branches, but never this line"),
    "after_break": unrun("What follows the graph break before it in breaking was never compiled"),
    "after_unresumed": ("", never_traced(AFTER_BREAK)[1]),
    "after_unresumed_branch": never_traced(AFTER_BREAK),
    "after_failure": unrun("Dynamo gave up a compile of failing before this line"),
    "after_failure_in_a_call": unrun("Dynamo gave up a compile of inlined_in_vain before this line"),
    "after_a_failed_export": unrun("Dynamo gave up a compile of Exported.forward before this line"),
    "disabled_branch": never_traced(f"disabled {DISABLED}"),
    "disabled_uncalled": never_traced(f"disabled_uncalled {DISABLED}"),
    "skipped_branch": never_traced(f"Not compiled: skipped runs as plain Python{SKIPPED}"),
    "no_operations": never_traced(f"Not compiled: without_operations runs as plain Python{NO_OPERATIONS}"),
    "after_raise": never_traced(f"Not compiled: raising runs as plain Python{SKIPPED}"),
    "over_the_limit": (
        "",
        "Not compiled: limited runs as plain Python: its recompile limit is reached; "
        "without debugpy this line cannot stop.",
    ),
    "condition": always("Dynamo came here once, and its condition (x.shape[0] == 9) never held."),
    "uncompiled_condition": (
        "It was reached once, and its condition (x.shape[0] == 9) never held.",
        untraced("conditional_run")[1],
    ),
    "count": always("Dynamo came here once, and its hit condition is 5."),
    "uncalled": untraced("uncalled"),
    "at_exit": untraced("at_exit"),  # it ran, when debugpy had ended
    "function": always("Its file was never imported."),
    "module_level": always("Its file was never imported."),
}
"""By label: what is said with debugpy, and without; "" where the breakpoint is hit."""


def reasons(client: DapClient, configuration: dict[str, Any], *paths: Path, **more: Any) -> dict[str, str]:
    """Run to the end, through all stops; the reasons by label, or by line where it has no label."""
    places = {(path.name, line): label for path in paths for label, line in labels(path).items()}
    lines = {
        path: [{"line": line, **CONDITIONS.get(label, {})} for label, line in labels(path).items()] for path in paths
    }
    client.launch(
        {"console": "internalConsole", "redirectOutput": True, **configuration}, lines | more.pop("lines", {}), **more
    )
    while (event := client.wait_for_event("stopped", "terminated"))["event"] == "stopped":
        Stop(client, event["body"]).resume()
    said = re.findall(r"^dynascope: (.*?): the breakpoint was never hit\. (.*)$", client.output("console"), re.M)
    named = ((place.rpartition(":"), reason) for place, reason in said)
    return {places.get((file, int(line)), file) if file else line: reason for (file, _, line), reason in named}


@WITH_AND_WITHOUT_DEBUGPY
def test_everyday_reasons_are_true(client: DapClient, runtime: bool) -> None:
    library = Path(textwrap.__file__)
    called = library.read_text().splitlines().index("    margin = None") + 1
    said = reasons(
        client,
        {"program": str(EVERYDAY), "runtime": runtime},
        *(EVERYDAY, UNLISTED, UNIMPORTED),
        lines={library: [called]},
        functions=["nobody"],
    )
    expected = {label: texts[not runtime] for label, texts in TRUTH.items() if texts[not runtime]}
    of_library = (
        untraced("dedent")[1]
        if not runtime
        else ('Dynamo did not trace dedent, and debugpy stops in packages only with "justMyCode": false.')
    )
    of_name = "Dynamo traced no function of this name" + (
        ", and debugpy saw none in your own files run uncompiled." if runtime else "."
    )
    assert said == expected | {"textwrap.py": of_library, "nobody": of_name}


@pytest.mark.parametrize(
    ("how", "runtime"),
    [
        *[("subprocess", True), ("spawn", False)],
        *(pytest.param(*each, marks=pytest.mark.matrix) for each in [("left", False), ("fork", True), ("ranks", True)]),
    ],
)
def test_a_parent_speaks_of_itself_alone(client: DapClient, how: str, runtime: bool) -> None:
    said = reasons(client, {"program": str(FAMILY), "args": [how], "runtime": runtime}, FAMILY, CHILD)
    rest = UNSEEN + "." if runtime else ": it did not run, or only uncompiled."
    assert said == {
        "everywhere": f"Dynamo did not trace everywhere{OTHERS}{rest}",
        "compiled": f"Its file was never imported{OTHERS}.",
    }
    assert client.output("console").count("is not debugged, nor are later ones") == 1


def test_a_program_that_ends_at_once_says_nothing_false(client: DapClient) -> None:
    assert reasons(client, {"program": str(FAMILY), "args": ["killed"]}, FAMILY, CHILD) == {}


@pytest.mark.matrix
def test_loaded_code_is_named(client: DapClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(tmp_path / "cache"))
    subprocess.run([sys.executable, str(LOADING), "save", str(tmp_path)], check=True, capture_output=True)
    kinds = ["precompiled", "ahead", "exported", "packaged"]
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "cache")}
    said = reasons(
        client, {"program": str(LOADING), "args": ["load", str(tmp_path), *kinds], "env": environment}, LOADING
    )
    loaded = "Its function was compiled before, and loaded as {}, so Dynamo did not trace it."
    others = "an exported program and a package of AOTInductor"
    unrun = f"Nothing was compiled{NOT_RUN}. The program loaded {others}: no line of such code can stop."
    assert said == {
        "precompiled": loaded.format("a precompiled package"),
        "ahead": loaded.format("a result of aot_compile"),
        "inlined": loaded.format("a result of aot_compile"),
        "unrelated": unrun,
        "exported": unrun,
    }
