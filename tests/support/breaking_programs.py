"""Programs whose graph breaks are known: what their last comments state, and what plain torch does with them.

`# breaks: 12 _helper_log.py:7` names the lines at which Dynamo breaks a graph, `# compiles: 3` how many compiles end
with a graph or with code. `# remedy: 12 -> y = torch.where(c, a, b) -> breaks none` is a change and the breaks that are
left with it: the text goes in the place of line 12, after its indentation. `+12` puts it on a line of its own before
line 12, `-12` takes line 12 away, `_helper_log.py:12` names a line of that file, and ` && ` joins changes. `-> silent`
at the end: lines that the compiled function printed are missing. The best remedy comes first; `# best: none` stands in
place of remedies. Lines are those of the plain program, those of breaks that are left, too.

`python -m tests.support.breaking_programs NAME …` measures and writes what is stated of breaks and compiles anew.
"""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "programs" / "sentences" / "breaks"

_REMEDY = re.compile(r"# remedy: (?P<edits>.*?)(?: -> breaks (?P<breaks>[^>]*?))?(?P<silent> -> silent)?")
_EDIT = re.compile(r"(?P<how>[+-]?)(?:(?P<file>\w+\.py):)?(?P<line>\d+)(?: -> (?P<text>.*))?")
_NUMBER = re.compile(r"(-?\d+\.?\d*(?:e[+-]?\d+)?)")


@dataclass(frozen=True)
class Edit:
    """A change of one line."""

    file: str
    line: int
    text: str | None
    inserts: bool


@dataclass(frozen=True)
class Remedy:
    """A change of the program, and what is left of its breaks."""

    text: str
    edits: list[Edit]
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
            edits = [_edit(text, program) for text in match["edits"].split(" && ")]
            remedies.append(Remedy(line, edits, _places(match["breaks"] or ""), match["silent"] is not None))
    assert none != bool(remedies), f"{program} states either remedies or that there are none"
    return Stated(breaks, compiles, remedies)


def measured(program: Path, remedies: list[Remedy]) -> list[Measured]:
    """Run a program as it is, then with each remedy, on plain torch in one child process."""
    return all_measured([(program, remedies)])[0]


def all_measured(asked: list[tuple[Path, list[Remedy]]]) -> list[list[Measured]]:
    """Run several programs, each as it is and then with each of its remedies, in one child process."""
    with tempfile.TemporaryDirectory() as folder:
        made = [
            [
                _write(program, Path(folder).resolve() / f"{program.stem}-{number}", edits)
                for number, edits in enumerate([[], *(remedy.edits for remedy in remedies)])
            ]
            for program, remedies in asked
        ]
        ours = ("PYTHON", "TORCH", "DYNASCOPE")
        clean = {name: text for name, text in os.environ.items() if not name.startswith(ours)}
        ran = subprocess.run(
            [sys.executable, "-m", "tests.support.watched_breaks", *(str(path) for each in made for path, _ in each)],
            cwd=ROOT,
            env={
                **clean,
                "OMP_NUM_THREADS": "1",
                "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
                "TORCHINDUCTOR_CACHE_DIR": os.path.join(folder, "cache"),
                "TORCHINDUCTOR_VEC_ISA_OK": "1",
            },
            capture_output=True,
            text=True,
        )
    seen = iter(ran.stdout.splitlines())
    assert ran.returncode == 0, ran.stderr
    return [[_measured(json.loads(next(seen)), origins, path.name) for path, origins in each] for each in made]


def same_output(plain: str, other: str, silent: bool) -> bool:
    """Whether two runs printed the same, up to 1e-5 in numbers. A silent one may lack lines."""
    lines = iter(plain.splitlines())
    found = all(any(_same_line(line, each) for each in lines) for line in other.splitlines())
    return found and (silent or len(plain.splitlines()) == len(other.splitlines()))


def _same_line(one: str, other: str) -> bool:
    pairs = list(zip(_NUMBER.split(one), _NUMBER.split(other), strict=False))
    if len(_NUMBER.split(one)) != len(_NUMBER.split(other)):
        return False
    texts, numbers = pairs[::2], pairs[1::2]
    return all(a == b for a, b in texts) and all(
        math.isclose(float(a), float(b), rel_tol=1e-5, abs_tol=1e-5) for a, b in numbers
    )


def _places(text: str) -> list[str]:
    return sorted((place for place in text.split() if place != "none"), key=_in_order)


def _in_order(place: str) -> tuple[str, int]:
    file, _, line = place.rpartition(":")
    return file, int(line)


def _edit(text: str, program: Path) -> Edit:
    match = _EDIT.fullmatch(text)
    assert match and (match["how"] == "-") == (match["text"] is None), f"not a change of a line: {text}"
    return Edit(match["file"] or program.name, int(match["line"]), match["text"], match["how"] == "+")


def _write(program: Path, folder: Path, edits: list[Edit]) -> tuple[Path, dict[str, list[int]]]:
    """Write a program and its helpers with the edits, and return its path and where each line comes from."""
    folder.mkdir()
    origins = {}
    for path in [program, *program.parent.glob("_helper_*.py")]:
        lines, origins[path.name] = [], []
        for number, line in enumerate(path.read_text().splitlines(), 1):
            indentation = line[: len(line) - len(line.lstrip())]
            own = [edit for edit in edits if edit.file == path.name and edit.line == number]
            new = [f"{indentation}{edit.text}" for edit in own if edit.text is not None]
            new += [line] if all(edit.inserts for edit in own) else []
            lines += new
            origins[path.name] += [number] * len(new)
        (folder / path.name).write_text("\n".join(lines) + "\n")
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
    for (program, remedies), (plain, *others) in zip(asked, all_measured(asked), strict=True):
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
