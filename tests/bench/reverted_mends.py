"""Which mends the quick tests would find missing: `python -m tests.bench.reverted_mends [--last 40] [COMMIT…]`.

For each of the last commits that changed the product and added a test, the change of the product alone is taken back in
a copy of the checkout, and the quick tests are run, those of the files that the commit changed first. One of them has
to fail. Where later commits changed the same lines, it is taken back in the checkout as that commit left it: the test
that fails there has to be one of the quick tests still, by its name. A commit that changed no code is left out and
named.
"""

from __future__ import annotations

import ast
import functools
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from tests.support.marks import ROOT

QUICK = "not cuda and not matrix and not second_leg_only"
QUICK_TESTS = [f"tests/{name}" for name in ("unit", "agent", "dap", "facts", "lsp", "terminal")]
PRODUCT = ["adapter", "lsp"]
NO_TESTS = 5
"""pytest's exit code where none is chosen."""
WITHOUT_PLUGIN = ["-p", "no:dynascope"]
"""The plugin is named by what is installed here, and is not in an older checkout."""


@click.command()
@click.option("--last", default=40, show_default=True, help="So many commits, from the newest.")
@click.option("--workers", default=2, show_default=True, help="Tests that run at the same time.")
@click.argument("commits", nargs=-1)
def main(last: int, workers: int, commits: tuple[str, ...]) -> None:
    """Print a line for each mend: found, missed, or left out and why; then the count."""
    found = missed = 0
    with tempfile.TemporaryDirectory(prefix="dynascope-mends-") as folder:
        copy = Path(folder) / "checkout"
        git("worktree", "add", "--detach", str(copy), "HEAD")
        try:
            for commit in commits or mends():
                if found + missed == last:
                    break
                said, test = outcome(copy, commit, workers)
                found += said == "found"
                missed += said == "missed"
                print(
                    f"{said:10} {git('show', '--no-patch', '--format=%h %s', commit).strip()[:100]}{test}", flush=True
                )
        finally:
            git("worktree", "remove", "--force", str(copy))
    print(f"{found} of {found + missed} found")


def mends() -> list[str]:
    """Return the commits that changed the product and added a test, the newest first."""
    return [
        commit for commit in git("log", "--no-merges", "--format=%h").split() if product(commit) and adds_test(commit)
    ]


def adds_test(commit: str) -> bool:
    return bool(tests(commit) and added_tests(commit))


def product(commit: str) -> list[str]:
    return [path for path in changed(commit) if path.startswith(tuple(f"{wing}/" for wing in PRODUCT))]


def tests(commit: str) -> list[str]:
    paths = [path for path in changed(commit) if path.startswith("tests/") and Path(path).name.startswith("test_")]
    return [path for path in paths if path.endswith(".py") and (ROOT / path).exists()]


def changed(commit: str) -> list[str]:
    return git("show", "--name-only", "--format=", commit).split()


def outcome(copy: Path, commit: str, workers: int) -> tuple[str, str]:
    """Return what became of a mend that is taken back, and the test that found it missing."""
    head = git("rev-parse", "HEAD").strip()
    git("checkout", "--quiet", "--force", "--detach", head, folder=copy)
    is_at_head = is_taken_back(copy, commit) or is_reverted(copy, commit)
    if not is_at_head:
        git("checkout", "--quiet", "--force", "--detach", commit, folder=copy)
        is_taken_back(copy, commit)
    if not changes_code(copy):
        git("reset", "--quiet", "--hard", folder=copy)
        return "left out", ": it changes no code"
    added = ["-k", " or ".join(added_tests(commit))] if not is_at_head else []
    failed = failures(copy, workers, is_at_head, *added, *tests(commit))
    failed = failed or failures(copy, workers, is_at_head, *QUICK_TESTS)
    git("reset", "--quiet", "--hard", folder=copy)
    where = "" if is_at_head else ", in a checkout of the commit"
    return ("found", f"\n           {failed[0]}{where}") if failed else ("missed", "")


def failures(copy: Path, workers: int, is_at_head: bool, *arguments: str) -> list[str]:
    """Run quick tests in a checkout until one fails; return the ids of those that fail and are quick tests still."""
    search = os.pathsep.join(str(copy / wing) for wing in PRODUCT)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *WITHOUT_PLUGIN, "-q", "-n", str(workers), "-m", QUICK, "-x", *arguments],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": search},
        capture_output=True,
        text=True,
    )
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", run.stdout, re.MULTILINE)
    if not failed and run.returncode not in (0, NO_TESTS):
        raise click.ClickException(f"pytest has run no tests:\n{run.stdout}{run.stderr}")
    return [test for test in failed if is_at_head or name(test) in quick_tests() or (ROOT / test).is_file()]


def added_tests(commit: str) -> list[str]:
    return re.findall(r"^\+(?:async )?def (test_\w+)", git("show", "--format=", commit, "--", *tests(commit)), re.M)


def name(test: str) -> str:
    return test.partition("::")[2].partition("[")[0]


@functools.cache
def quick_tests() -> set[str]:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-m", QUICK, "tests"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout
    return set(re.findall(r"^\S+\.py::(\w+)", listed, re.MULTILINE))


def is_taken_back(copy: Path, commit: str) -> bool:
    """Take back the change of the product; return whether it could be."""
    change = git("diff", f"{commit}^", commit, "--", *PRODUCT)
    applied = subprocess.run(["git", "apply", "--reverse", "--3way"], cwd=copy, input=change, text=True, stderr=-1)
    if applied.returncode:
        git("reset", "--quiet", "--hard", folder=copy)
    return applied.returncode == 0


def is_reverted(copy: Path, commit: str) -> bool:
    """Do so as git reverts commits, which finds files under other names; return whether it could be."""
    subprocess.run(["git", "revert", "--no-commit", commit], cwd=copy, capture_output=True)
    in_the_way = git("diff", "--name-only", "--diff-filter=U", "--", *PRODUCT, folder=copy)
    change = git("diff", "HEAD", "--", *PRODUCT, folder=copy)
    git("reset", "--quiet", "--hard", folder=copy)
    if in_the_way or not change:
        return False
    subprocess.run(["git", "apply", "--index"], cwd=copy, input=change, text=True, check=True)
    return True


def changes_code(copy: Path) -> bool:
    """Whether more than docstrings and comments differs from HEAD."""
    names = git("diff", "--name-only", "--cached", "HEAD", "--", *PRODUCT, folder=copy).split()
    return any(code(path, copy, "HEAD:") != code(path, copy, ":") for path in names)


def code(path: str, copy: Path, version: str) -> str:
    """Return the code of a file in a commit, or in the index, without docstrings and comments."""
    shown = subprocess.run(["git", "show", f"{version}{path}"], cwd=copy, capture_output=True, text=True)
    tree = ast.parse(shown.stdout if shown.returncode == 0 and path.endswith(".py") else "")
    for node in ast.walk(tree):
        if isinstance(body := getattr(node, "body", None), list):
            node.body = [each for each in body if not is_text(each)]  # type: ignore[attr-defined]
    return ast.dump(tree)


def is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def git(*arguments: str, folder: Path = ROOT) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    main()
