"""How often a prediction is right, and how many breaks are predicted: `python -m tests.lsp.precision [PROGRAM…]`.

Each program is analysed as the language server does it, and run; a prediction is right where Dynamo logs a graph break
at its line. Programs are those of `foreign`, `ordinary` and `repositories`, unless others are given. Their lines
at which a run was seen to break say `# breaks`: with `--marks` nothing is run.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from dynascope_lsp.documents.text import Text
from dynascope_lsp.prediction.project import Project
from msgspec import Struct

FOREIGN = Path(__file__).parent / "foreign"
ORDINARY = Path(__file__).parent / "ordinary"
REPOSITORIES = Path(__file__).parent / "repositories"
"""Programs in the ways in which repositories use `torch.compile`, by engineers who had not read the rules."""
Place = tuple[str, int]
"""A file and a line."""

_BROKE = re.compile(r"Graph break.* in user code at (?P<path>.+?):(?P<line>\d+)\s*$")
_FRAME = re.compile(r'^\s*File "(?P<path>.+?)", line (?P<line>\d+)', re.MULTILINE)


class Outcome(Struct):
    """Of one program: what was predicted, by place the rules; and where it broke."""

    program: Path
    predicted: dict[Place, set[str]]
    observed: set[Place]
    error: str = ""

    @property
    def wrong(self) -> dict[Place, set[str]]:
        return {place: rules for place, rules in self.predicted.items() if place not in self.observed}


def programs() -> list[Path]:
    """Files of `foreign`, and `main.py` of its folders."""
    return _programs(FOREIGN)


def ordinary_programs() -> list[Path]:
    return _programs(ORDINARY)


def programs_of_repositories() -> list[Path]:
    return _programs(REPOSITORIES)


def _programs(folder: Path) -> list[Path]:
    return sorted([*folder.glob("*.py"), *folder.glob("*/main.py")])


def marks(program: Path) -> set[Place]:
    """Return where a program says that it breaks, in any of its files."""
    files = [program] if program.parent in (FOREIGN, ORDINARY, REPOSITORIES) else program.parent.rglob("*.py")
    return {
        (str(path), number)
        for path in files
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if line.endswith("# breaks")
    }


def predictions(program: Path, folder: Path) -> dict[Place, set[str]]:
    """What the language server says of a program and of the files it leads to."""
    texts: dict[str, Text] = {}

    def source(path: str) -> Text | None:
        return texts.setdefault(path, Text(Path(path).read_text()))

    project = Project(source, lambda: [str(folder)])
    project.file_changed(str(program))
    found: dict[Place, set[str]] = {}
    project.predictions(str(program))
    for path in project.paths():
        for each in project.predictions(path):
            found.setdefault((path, each.line), set()).add(each.title.removeprefix("Graph break expected: "))
    return found


def observations(paths: Iterable[Path]) -> dict[Path, tuple[set[Place], str]]:
    """Where runs break, by Dynamo's own log: the innermost line that is the program's; and how a run failed."""
    environment = {**os.environ, "TORCH_LOGS": "graph_breaks", "TORCH_LOGS_FORMAT": "%(message)s"}
    environment["TORCHDYNAMO_VERBOSE"] = "1"  # the stack of a break each time that it is met
    observing = Path(__file__).with_name("observing.py")
    done = subprocess.run(
        [sys.executable, str(observing), *map(str, paths)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    found: dict[Path, tuple[set[Place], str]] = {}
    for part in re.split(r"^=== ", done.stderr, flags=re.MULTILINE)[1:]:
        name, _, rest = part.partition("\n")
        log, _, error = rest.partition("\n--- ")
        places = set(filter(None, (_place(each, Path(name).parent) for each in re.split("(?=Graph break)", log))))
        if "from user code" in error:
            places |= set(filter(None, (_place("Graph break\n" + error, Path(name).parent),)))
        found[Path(name)] = (places, error.partition("\n")[0])
    return found


def _place(logged: str, folder: Path) -> Place | None:
    if not logged.startswith("Graph break"):
        return None
    matches = [*_BROKE.finditer(logged.partition("\n")[0]), *_FRAME.finditer(logged)]
    ours = [(each["path"], int(each["line"])) for each in matches if each["path"].startswith(str(folder) + os.sep)]
    return ours[-1] if ours else None


def outcomes(paths: list[Path]) -> list[Outcome]:
    observed = observations(paths)
    return [
        Outcome(each, predictions(each, each.parent), *observed.get(each, (set(), "was not run"))) for each in paths
    ]


def outcomes_by_marks(paths: list[Path]) -> list[Outcome]:
    return [Outcome(each, predictions(each, each.parent), marks(each)) for each in paths]


def main() -> None:
    given = [Path(each).resolve() for each in sys.argv[1:] if each != "--marks"]
    given = given or [*programs(), *ordinary_programs(), *programs_of_repositories()]
    found = outcomes_by_marks(given) if "--marks" in sys.argv else outcomes(given)
    right: Counter[str] = Counter()
    made: Counter[str] = Counter()
    missed = 0
    for each in found:
        print(f"{each.program.relative_to(each.program.parents[1])}  {each.error}".rstrip())
        missed += len(each.observed - each.predicted.keys())
        for (path, line), rules in sorted(each.predicted.items()):
            made.update(rules)
            if (path, line) in each.observed:
                right.update(rules)
            else:
                print(f"  wrong   {Path(path).name}:{line}  {', '.join(rules)}")
        for path, line in sorted(each.observed - each.predicted.keys()):
            print(f"  missed  {Path(path).name}:{line}  {Path(path).read_text().splitlines()[line - 1].strip()}")
    print()
    for rule, count in made.most_common():
        print(f"{right[rule]:4} of {count:4}  {rule}")
    breaks = sum(len(each.observed) for each in found)
    print(f"{right.total():4} of {made.total():4}  right; {missed} of {breaks} breaks missed; {len(found)} programs")


if __name__ == "__main__":
    main()
