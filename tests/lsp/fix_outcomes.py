"""What becomes of programs to which fixes are applied: `python -m tests.lsp.fix_outcomes [PROGRAM…]`.

Each program runs recorded; every fix that the language server would offer for what was found is applied to a copy, and
that runs, too. It is an error when one of them crashes or prints something else. Programs are those of `fixable`, or
those that are given: a file, or `main.py` of a folder.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from dynascope.facts.reader import Reader
from dynascope.facts.store import FILE_NAME, StoreMissing
from dynascope_lsp.documents.edits import applied
from dynascope_lsp.documents.text import Text
from dynascope_lsp.fixes.fix import Fix
from dynascope_lsp.fixes.offered import offered
from dynascope_lsp.recorded.file_facts import FileFacts
from dynascope_lsp.recorded.findings import Finding
from dynascope_lsp.recorded.snapshot import Snapshot
from dynascope_lsp.settings import Settings
from dynascope_lsp.trials import moved
from msgspec import Struct

FIXABLE = Path(__file__).parent / "fixable"
RUNNER = Path(__file__).with_name("recording_programs.py")
Verdict = Literal["gone", "still there", "results changed", "crashed"]


class Case(Struct):
    """A program, or a copy of it, and what its run left."""

    folder: Path
    program: Path
    facts: Path

    @property
    def output(self) -> str:
        """Addresses of objects are others in each run."""
        return re.sub(r"0x[0-9a-f]+", "0x", (self.facts / "output").read_text())

    @property
    def exit_code(self) -> int:
        return int((self.facts / "exit_code").read_text())

    @property
    def error(self) -> str:
        """The last line of what was printed to stderr."""
        return ((self.facts / "errors").read_text().strip().splitlines() or [""])[-1]


class Applied(Struct):
    """One fix, offered for one finding of one program, and what became of it."""

    name: str
    path: Path
    finding: Finding
    title: str
    verdict: Verdict
    detail: str = ""
    is_proven: bool = True
    """Whether it is offered without a trial; the verdict is what a trial gives."""


class Around:
    """What a snapshot asks the session for: the files of the program are the user's."""

    def __init__(self, folder: Path, reader: Reader) -> None:
        self._folder = str(folder)
        self._reader = reader
        self._snapshots: dict[str, Snapshot] = {}

    def snapshot_of(self, path: str) -> Snapshot:
        if path not in self._snapshots:
            view = self._reader.view(path)
            facts = FileFacts(view) if view is not None else None
            text = Text(Path(path).read_text())
            self._snapshots[path] = Snapshot(self, Path(path).as_uri(), path, text, Settings(), facts)
        return self._snapshots[path]

    def locate(self, path: str, line: int) -> int | None:
        return line

    def is_ours(self, path: str) -> bool:
        return path.startswith(self._folder + os.sep)

    def predictions(self, path: str) -> list[Finding]:
        return []


def programs() -> list[Path]:
    """Files of `fixable`, and `main.py` of its folders."""
    return sorted([*FIXABLE.glob("*.py"), *FIXABLE.glob("*/main.py")])


def outcomes(paths: Iterable[Path], folder: Path) -> tuple[list[Case], list[Applied]]:
    """Runs the programs, applies what is offered, runs that; copies and facts are left in `folder`."""
    before = [_copied(path, folder / f"{number:03}") for number, path in enumerate(paths)]
    _run(before)
    edited: list[tuple[Case, Case, Path, Finding, Fix]] = []
    for case in before:
        for number, (path, finding, fix) in enumerate(_offers(case)):
            after = _copied(case.program, case.folder.with_name(f"{case.folder.name}-{number}"))
            for changed, edits in {str(path): fix.edits, **fix.elsewhere}.items():
                target = after.folder / Path(changed).relative_to(case.folder)
                target.write_text(applied(Text(Path(changed).read_text()), edits))
            edited.append((case, after, path, finding, fix))
    _run([after for _, after, *_ in edited])
    return before, [_judged(*each) for each in edited]


def _copied(program: Path, folder: Path) -> Case:
    if program.name == "main.py":
        shutil.copytree(program.parent, folder, ignore=shutil.ignore_patterns(".dynascope", "__pycache__"))
    else:
        folder.mkdir(parents=True)
        for path in [program, *program.parent.glob("_helper_*.py")]:
            shutil.copy(path, folder)
    return Case(folder, folder / program.name, folder / ".dynascope")


def _run(cases: list[Case]) -> None:
    jobs = "".join(json.dumps({"program": str(each.program), "facts": str(each.facts)}) + "\n" for each in cases)
    subprocess.run([sys.executable, str(RUNNER)], input=jobs, text=True, check=True)


def _offers(case: Case) -> Iterator[tuple[Path, Finding, Fix]]:
    for path, snapshot in snapshots(case):
        for finding in snapshot.findings:
            for fix in offered(snapshot, finding):
                if isinstance(fix, Fix):
                    yield path, finding, fix


def snapshots(case: Case) -> Iterator[tuple[Path, Snapshot]]:
    """Of the program's files that facts are about."""
    try:
        reader = Reader.open(case.facts / FILE_NAME)
    except StoreMissing:
        return
    with reader:
        around = Around(case.folder, reader)
        for path in sorted(case.folder.rglob("*.py")):
            yield path, around.snapshot_of(str(path))


def _judged(case: Case, after: Case, path: Path, finding: Finding, fix: Fix) -> Applied:
    verdict, detail = _verdict(case, after, path, finding, fix)
    name = str(case.folder.name if case.program.name == "main.py" else case.program.stem)
    return Applied(name, path, finding, fix.title, verdict, detail, fix.is_proven)


def _verdict(case: Case, after: Case, path: Path, finding: Finding, fix: Fix) -> tuple[Verdict, str]:
    if after.exit_code != case.exit_code:
        return "crashed", after.error
    if after.output != case.output:
        return "results changed", f"{case.output!r} became {after.output!r}"
    was, now = list(_findings(case, finding.kind)), list(_findings(after, finding.kind))
    same = [each for where, each in now if where == path.relative_to(case.folder) and _is_same(each, finding, fix)]
    if same:
        return "still there", same[0].title
    if len(now) >= len(was):
        return "still there", "; ".join(f"{where}:{each.line} {each.title}" for where, each in now)
    return "gone", ""


def _is_same(found: Finding, finding: Finding, fix: Fix) -> bool:
    """Whether it is what the fix was for: a break at the same statement, a failed guard of the same kind."""
    if finding.kind == "graphBreak":
        return found.line == moved(finding.line, fix.edits)
    return found.function_line == moved(finding.function_line or finding.line, fix.edits) and _kind(found) == _kind(
        finding
    )


def _kind(finding: Finding) -> str:
    return re.sub(r"\d+", "#", finding.guard or finding.title)


def _findings(case: Case, kind: str) -> Iterator[tuple[Path, Finding]]:
    for path, snapshot in snapshots(case):
        yield from ((path.relative_to(case.folder), each) for each in snapshot.findings if each.kind == kind)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        cases, found = outcomes([Path(each).resolve() for each in sys.argv[1:]] or programs(), Path(folder).resolve())
        for case in cases:
            if case.exit_code:
                print(f"{case.program.stem}: {case.error}")
        for each in found:
            to_try = "" if each.is_proven else ", to be tried"
            print(f"{each.verdict:16} {each.path.name}:{each.finding.line}  {each.title}{to_try}")
            if each.detail:
                print(f"                 {each.detail[:300]}")
    print()
    proven, to_try = ([each for each in found if each.is_proven == is_proven] for is_proven in (True, False))
    bad = [each for each in proven if each.verdict in ("crashed", "results changed")]
    for kind, offered_so in (("", proven), (" when tried", to_try)):
        for verdict, count in Counter(each.verdict for each in offered_so).most_common():
            print(f"{count:4}  {verdict}{kind}")
    print(f"{len(proven):4}  fixes offered in {len(cases)} programs, and {len(to_try)} to be tried")
    if bad or 10 * sum(each.verdict == "gone" for each in proven) < 9 * len(proven):
        sys.exit("A fix must break nothing, and nine in ten must remove what they are offered for.")


if __name__ == "__main__":
    main()
