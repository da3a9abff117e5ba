"""Install the packages of a release where nothing else is, and use them as their first user does.

`python -m tests.support.release PACKAGES ENVIRONMENT [TORCH]`, which `make release-check` calls with the folder that
has the wheel, the source distribution and the extension, and with a new virtual environment. The workbench comes after:
`tests/e2e/run.sh` with the environment's Python.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

SAMPLE = "extension/walkthrough/sample/dynascope_sample.py"
TOLD = ("Data-dependent branching", "dynascope_sample.py:20", "Recompiled")
SCRIPT = "break 20\ncontinue\nlocals\ngraph\nquit\n"


def main(packages: Path, environment: Path, torch: str = "torch") -> None:
    """Print what was checked; fail where a package does not do what its user expects."""
    wheel, sdist, extension = (_only(packages, pattern) for pattern in ("*.whl", "*.tar.gz", "*.vsix"))
    version = _check_versions(wheel, sdist, extension)
    _check_contents(wheel, sdist, extension)
    python = environment / "bin" / "python"
    _run(str(python), "-m", "pip", "install", "--quiet", torch, f"dynascope @ {wheel.resolve().as_uri()}")
    _run(str(python), "-m", "pip", "check")
    told = _run(str(environment / "bin" / "dynascope"), "--version")
    assert told.split()[-1] == version, told
    with tempfile.TemporaryDirectory(prefix="dynascope-release-") as folder:
        with zipfile.ZipFile(extension) as package:
            (Path(folder) / "dynascope_sample.py").write_bytes(package.read(SAMPLE))
        _use(environment / "bin" / "dynascope", Path(folder))
    print(f"dynascope {version}: {wheel.name}, {sdist.name}, {extension.name}")


def _only(packages: Path, pattern: str) -> Path:
    (found,) = packages.glob(pattern)
    return found


def _check_versions(wheel: Path, sdist: Path, extension: Path) -> str:
    """Return the version that all packages have, and that the changes for users begin with."""
    with zipfile.ZipFile(extension) as package:
        manifest = json.loads(package.read("extension/package.json"))
        (inner,) = (Path(name).name for name in package.namelist() if name.endswith(".whl"))
        changes = package.read("extension/changelog.md").decode()
    newest = re.search(r"^## (\S+)", changes, re.MULTILINE)
    version = manifest["version"]
    assert newest is not None and newest[1] == version, f"CHANGELOG.md does not begin with {version}"
    assert wheel.name == inner == f"dynascope-{version}-py3-none-any.whl", (wheel.name, inner, version)
    assert sdist.name == f"dynascope-{version}.tar.gz", (sdist.name, version)
    return str(version)


def _check_contents(wheel: Path, sdist: Path, extension: Path) -> None:
    with zipfile.ZipFile(wheel) as package:
        names = package.namelist()
        (metadata,) = (package.read(name).decode() for name in names if name.endswith(".dist-info/METADATA"))
    assert any(name.endswith("licenses/LICENSE") for name in names), names
    assert "dynascope/py.typed" in names and not [name for name in names if name.startswith("tests")]
    relative = re.findall(r"(?:\]\(|src=\"|srcset=\")(?!https?:|#)[^)\"]+", metadata)
    assert not relative, f"links that lead nowhere where the package is shown: {relative}"
    with tarfile.open(sdist) as source:
        assert {"LICENSE", "CHANGELOG.md", "pyproject.toml"} <= {Path(name).name for name in source.getnames()}
    with zipfile.ZipFile(extension) as package:
        assert "extension/LICENSE.txt" in package.namelist()


def _use(dynascope: Path, folder: Path) -> None:
    """Record the sample, read its report, and stop in it while Dynamo traces it."""
    printed = _run(str(dynascope), "run", "dynascope_sample.py", folder=folder)
    assert printed.count("batch ") == 3, printed
    report = _run(str(dynascope), "report", folder=folder)
    assert all(text in report for text in TOLD), report
    stopped = _run(str(dynascope), "debug", "dynascope_sample.py", folder=folder, typed=SCRIPT)
    assert "hidden" in stopped and "f32[4, 16]" in stopped, stopped


def _run(*command: str, folder: Path | None = None, typed: str = "") -> str:
    done = subprocess.run(command, cwd=folder, input=typed, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    return done.stdout


if __name__ == "__main__":
    main(*(Path(each).resolve() for each in sys.argv[1:3]), *sys.argv[3:])
