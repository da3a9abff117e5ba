"""Programs whose graph breaks are known: what their last comments state, and what plain torch does with them.

`# breaks: 12 _helper_log.py:7` names the lines at which Dynamo breaks a graph, `# compiles: 3` how many compiles end
with a graph or with code. `# remedy: 12 -> y = torch.where(c, a, b) -> breaks none` is a change (`edited_programs`) and
the breaks that are left with it; ` -> silent` at the end: lines that the compiled function printed are missing. The
best remedy comes first; `# best: none` stands in place of remedies. Lines are those of the plain program.

`python -m tests.support.breaking_programs NAME …` measures and writes what is stated of breaks and compiles anew.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.support.edited_programs import Edit, edited, edits_in, same_output

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "programs" / "sentences" / "breaks"

_REMEDY = re.compile(r"# remedy: (?P<edits>.*?)(?: -> breaks (?P<breaks>[^>]*?))?(?P<silent> -> silent)?")


@dataclass(frozen=True)
class Remedy:
    """A change of the program, and what is left of its breaks."""

    text: str
    edits: tuple[Edit, ...]
    breaks: list[str]
    silent: bool


@dataclass(frozen=True)
class Stated:
    """What a program's last comments say of it."""

    breaks: list[str]
    compiles: int
    remedies: list[Remedy]


@dataclass(frozen=True)
class Measured:
    """What torch did with a program. Breaks are named as in the comments, the reasons have the text of each."""

    breaks: list[str]
    compiles: int
    printed: str
    failed: str
    reasons: list[str]


def programs() -> list[Path]:
    """Return all programs, without their helpers."""
    return sorted(path for path in FOLDER.glob("*.py") if not path.name.startswith("_"))


def stated(program: Path) -> Stated:
    """Read the comments at a program's end."""
    lines = program.read_text().splitlines()
    breaks, compiles, remedies, none = [], -1, [], False
    for line in lines:
        if line.startswith("# breaks:"):
            breaks = _places(line.removeprefix("# breaks:"))
        elif line.startswith("# compiles: "):
            compiles = int(line.removeprefix("# compiles: "))
        elif line == "# best: none":
            none = True
        elif line.startswith("# remedy: "):
            match = _REMEDY.fullmatch(line)
            assert match, line
            remedies.append(
                Remedy(line, edits_in(match["edits"]), _places(match["breaks"] or ""), match["silent"] is not None)
            )
    assert none != bool(remedies), f"{program} states either remedies or that there are none"
    return Stated(breaks, compiles, remedies)


class Server:
    """A process with torch warmed up, which runs each program in a fork of its own."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="dynascope-breaking-programs-")
        self._errors = Path(self._folder.name) / "errors"
        self._process: subprocess.Popen[str] | None = None

    def _started(self) -> subprocess.Popen[str]:
        """Return the process, which is started for the first program."""
        if self._process is None:
            ours = ("PYTHON", "TORCH", "DYNASCOPE")
            clean = {name: text for name, text in os.environ.items() if not name.startswith(ours)}
            own = {
                "OMP_NUM_THREADS": "1",
                "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
                # Inductor finds kernels there again, under their own texts; `watched_breaks` removes the graphs
                "TORCHINDUCTOR_CACHE_DIR": self._folder.name,
                "TORCHINDUCTOR_VEC_ISA_OK": "1",
            }
            with self._errors.open("w") as errors:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "tests.support.watched_breaks"],
                    cwd=ROOT,
                    env=clean | own,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    text=True,
                )
        return self._process

    def measured(self, program: Path, remedies: list[Remedy]) -> list[Measured]:
        """Run a program as it is, then with each remedy."""
        with tempfile.TemporaryDirectory() as folder:
            return [
                self._run(program, Path(folder).resolve() / f"{program.stem}-{number}", edits)
                for number, edits in enumerate([(), *(remedy.edits for remedy in remedies)])
            ]

    def _run(self, program: Path, folder: Path, edits: tuple[Edit, ...]) -> Measured:
        path, origins = _write(program, folder, edits)
        process = self._started()
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(f"{path}\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process that runs programs has ended\n{self._errors.read_text()}")
        return _measured(json.loads(line), origins, path.name)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.communicate()
        self._folder.cleanup()


def _places(text: str) -> list[str]:
    return sorted((place for place in text.split() if place != "none"), key=_in_order)


def _in_order(place: str) -> tuple[str, int]:
    file, _, line = place.rpartition(":")
    return file, int(line)


def _write(program: Path, folder: Path, edits: tuple[Edit, ...]) -> tuple[Path, dict[str, list[int]]]:
    """Write a program and its helpers with the edits, and return its path and where each line comes from."""
    folder.mkdir()
    origins = {}
    for path in [program, *program.parent.glob("_helper_*.py")]:
        text, origins[path.name] = edited(path.read_text(), edits, "" if path == program else path.name)
        (folder / path.name).write_text(text)
    return folder / program.name, origins


def _measured(seen: dict, origins: dict[str, list[int]], name: str) -> Measured:
    places = []
    for file, line, _ in seen["breaks"]:
        number = origins[file][line - 1]
        places.append(str(number) if file == name else f"{file}:{number}")
    reasons = [f"{place}: {_short(text)}" for place, (*_, text) in zip(places, seen["breaks"], strict=True)]
    return Measured(sorted(set(places), key=_in_order), seen["compiles"], seen["printed"], seen["failed"], reasons)


def _short(reason: str) -> str:
    """Return the reason of a break without its hints."""
    reason = reason.partition("Graph Break Reason: ")[2] or reason
    lines = [
        line for line in reason.splitlines() if line.strip() and not line.startswith("Encountered graph break when")
    ]
    return "\n".join(line[:160] for line in lines[:3])


def _write_anew(names: list[str]) -> None:
    """Measure programs and their remedies, and state what came of it."""
    asked = [(FOLDER / f"{name}.py", stated(FOLDER / f"{name}.py").remedies) for name in names]
    with Server() as server:
        all_measured = [server.measured(*each) for each in asked]
    for (program, remedies), (plain, *others) in zip(asked, all_measured, strict=True):
        print(f"== {program.stem}", plain.failed[-600:], plain.printed, sep="\n")
        print(*plain.reasons, sep="\n")
        found = re.compile("# (breaks|compiles|remedy|best): ?")
        lines = [line for line in program.read_text().splitlines() if not found.match(line)]
        lines += ["# breaks: " + (" ".join(plain.breaks) or "none"), f"# compiles: {plain.compiles}"]
        for remedy, other in zip(remedies, others, strict=True):
            edits = re.sub(r"( -> breaks [^>]*)?( -> silent)?$", "", remedy.text)
            line = f"{edits} -> breaks {' '.join(other.breaks) or 'none'}" + (" -> silent" if remedy.silent else "")
            lines.append(line)
            print(f"-- {line} ({other.compiles} compiles)", other.failed[-600:], *other.reasons, sep="\n")
            if not same_output(plain.printed, other.printed, remedy.silent):
                print(f"!! it prints something else:\n{other.printed}")
        program.write_text("\n".join([*lines, *([] if others else ["# best: none"])]) + "\n")


if __name__ == "__main__":
    _write_anew(sys.argv[1:])
