"""What the pytest plugin costs in a real suite: `python -m tests.bench.pytest_plugin [--pairs N] [FOLDER]`.

The suite is a part of timm's own, from its source distribution: layers, schedulers and training tasks, some of which
compile. It runs with two workers of pytest-xdist and with coverage, in turn without the plugin and with all of its
tests checked against a baseline. Each test has to end in both as it does without. timm is installed into FOLDER, with
the torchvision that fits the torch that is installed; torch's build for the CPU alone fits none.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import click

TIMM = "timm==1.0.31"
BESIDE_IT = ["parameterized", "expecttest", "pytest-cov", "coverage", "pillow"]
TESTS = ["layers", "layers_drop", "task", "utils", "scheduler", "input_conv", "multilabel"]
CHECKED = ["--dynascope-fail-on", "graph-break,recompile,failure", "--dynascope-baseline", "baseline.json"]


class Measured(NamedTuple):
    """A run of the suite: its processes' CPU seconds, its wall time in seconds, and how each test ended."""

    cpu: float
    wall: float
    ended: dict[str, str]


def prepare(folder: Path, torchvision: str) -> Path:
    """Install timm and what its tests need beside torch; return the folder of its sources."""
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    if not (folder / "site").exists():
        beside = [*BESIDE_IT, f"torchvision=={torchvision}"]
        subprocess.run([*pip, "install", "--no-deps", "--target", folder / "site", TIMM, *beside], check=True)
        subprocess.run([*pip, "download", "--no-deps", "--no-binary", ":all:", "--dest", folder, TIMM], check=True)
        with tarfile.open(next(folder.glob("timm-*.tar.gz"))) as archive:
            archive.extractall(folder, filter="data")
    return next(path for path in folder.glob("timm-*") if path.is_dir())


def suite(folder: Path, sources: Path, options: list[str]) -> Measured:
    """Run the suite in the folder of its sources."""
    report = folder / "report.xml"
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--cov=timm", "--cov-report=", f"--junitxml={report}"]
    python_path = os.pathsep.join(filter(None, [str(folder / "site"), os.environ.get("PYTHONPATH")]))
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [*command, *options, *(f"tests/test_{name}.py" for name in TESTS)],
        cwd=sources,
        env=os.environ | {"PYTHONPATH": python_path},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    cases = ElementTree.parse(report).iter("testcase")
    ended = {f"{each.get('classname')}.{each.get('name')}": each[0].tag if len(each) else "passed" for each in cases}
    return Measured(cpu, wall, ended)


@click.command()
@click.option("--pairs", default=3, show_default=True, help="Pairs of runs without and with the plugin.")
@click.option("--torchvision", default="0.29.0", show_default=True, help="The version that fits torch.")
@click.argument("folder", required=False, type=click.Path(path_type=Path))
def main(pairs: int, torchvision: str, folder: Path | None) -> None:
    """Print how the tests ended, those that ended otherwise with the plugin, and the ratios of the medians."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = folder or Path(temporary)
        sources = prepare(folder, torchvision)
        (sources / "baseline.json").unlink(missing_ok=True)
        updated = suite(folder, sources, [*CHECKED, "--dynascope-update"])
        print("with --dynascope-update:", dict(Counter(updated.ended.values())), flush=True)
        plain, checked = [], []
        for _ in range(pairs):
            plain.append(suite(folder, sources, ["-p", "no:dynascope"]))
            checked.append(suite(folder, sources, CHECKED))
        usual = plain[0].ended
        print("without the plugin:", dict(Counter(usual.values())))
        for run in (updated, *plain, *checked):
            for name in sorted(usual.keys() | run.ended.keys()):
                if usual.get(name) != run.ended.get(name):
                    print(f"{name}: {run.ended.get(name)}, for {usual.get(name)} without the plugin")
        for unit in ("cpu", "wall"):
            without, with_it = (statistics.median(getattr(run, unit) for run in runs) for runs in (plain, checked))
            print(f"{unit}: {without:.1f} s without, {with_it:.1f} s with the plugin: {with_it / without:.3f} ×")


if __name__ == "__main__":
    main()
