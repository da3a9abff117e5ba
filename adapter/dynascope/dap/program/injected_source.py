"""Source code that runs in the debugged program's interpreter: it makes dynascope importable and starts the agent.

The functions below are sent as source (`inspect.getsource`), so each imports all it uses. If dynascope is not
installed for that interpreter, it and msgspec, and nothing else, are loaded from the adapter's own installation;
msgspec is a compiled module, so the Python versions must be the same.
"""

from __future__ import annotations

import functools
import inspect
import json
import sys
from importlib.util import find_spec
from pathlib import Path

BORROWED = ("dynascope", "msgspec")


def import_or_borrow(folders: dict[str, str], cache_tag: str, requirement: str) -> str:
    """Make each package in `folders` importable, in the program; return "" or why it cannot."""
    import importlib.machinery
    import importlib.util
    import sys

    missing = [name for name in folders if importlib.util.find_spec(name) is None]
    if not missing:
        return ""
    install = f"{sys.executable} -m pip install {requirement}"
    if sys.implementation.cache_tag != cache_tag:
        return (
            f"{' and '.join(missing)} is not installed for {sys.executable}, and the adapter's cannot be used there: "
            f"its Python ({sys.implementation.cache_tag}) is not the adapter's ({cache_tag}). Run: {install}"
        )

    class Borrowed:
        @staticmethod
        def find_spec(name: str, path: object = None, target: object = None) -> object:
            if name in missing:
                return importlib.machinery.PathFinder.find_spec(name, [folders[name]])
            return None

    sys.meta_path.append(Borrowed)  # type: ignore[arg-type]
    return ""


def start_agent(address: str, token: str) -> str:
    """Start the agent, in the program's interpreter; return "" or why it did not start."""
    try:
        from dynascope.agent.session.startup import bootstrap

        bootstrap.start(address, token)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def run_launcher() -> None:
    """Run `python -m dynascope.agent.session.startup.launcher`, in the program's interpreter."""
    import os
    import runpy
    import sys

    sys.path[0] = os.getcwd()
    runpy.run_module("dynascope.agent.session.startup.launcher", run_name="__main__", alter_sys=True)


def injection(address: str, token: str) -> str:
    """Return an expression that starts the agent; its value is "" or why it did not start."""
    source = f"{inspect.getsource(import_or_borrow)}\n{inspect.getsource(start_agent)}"
    arguments = f"{address!r}, {token!r}"
    call = f"s['import_or_borrow']({packages()}) or s['start_agent']({arguments})"
    return f"(lambda s: (exec({source!r}, s), {call})[1])({{}})"


def launcher_source() -> str:
    """Return a program for `python -c` that runs `dynascope.agent.session.startup.launcher`."""
    return (
        f"{inspect.getsource(import_or_borrow)}\n{inspect.getsource(run_launcher)}\n"
        f"why = import_or_borrow({packages()})\nif why: raise SystemExit(why)\nrun_launcher()"
    )


@functools.cache
def packages() -> str:
    """Return the arguments of `import_or_borrow`, for the packages of this interpreter."""
    folders = {name: str(Path(origin(name)).parent.parent) for name in BORROWED}
    return f"{folders!r}, {sys.implementation.cache_tag!r}, {_requirement()!r}"


def origin(package: str) -> str:
    """Return the path of a package's `__init__.py` in this interpreter."""
    spec = find_spec(package)
    assert spec is not None and spec.origin is not None  # this module imports both
    return spec.origin


def _requirement() -> str:
    """Return what pip installs this version from: a folder (PEP 610), or the name."""
    from importlib import metadata  # takes a tenth of the adapter's start

    try:
        distribution = metadata.distribution("dynascope")
    except metadata.PackageNotFoundError:
        return "dynascope"
    recorded = distribution.read_text("direct_url.json")
    url = json.loads(recorded).get("url", "") if recorded else ""
    return url.removeprefix("file://") or f"dynascope=={distribution.version}"
