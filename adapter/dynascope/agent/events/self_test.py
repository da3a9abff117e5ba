"""Check that this torch has the names the hooks need, without compiling anything.

A compile of three lines would use up a compile id, change Dynamo's counters and the random state. So only names and
signatures are checked; the session watches the first real compile and reports hooks that were not called.
"""

from __future__ import annotations

import sys

from dynascope.agent.events.torch_names import IMPORTED_LATER, RECORDING, STOPS, Feature, TorchName, all_names
from dynascope.agent.events.wrapping import is_found

TESTED_TORCH = ("2.11", "2.12", "2.13", "2.14", "2.15")
TESTED_PYTHON = ("3.11", "3.12", "3.13")


def missing_names(feature: Feature) -> list[str]:
    """Return the names `feature` needs that this torch lacks or has with other parameters."""
    return [str(name) for name in _missing() if feature in name.serves]


def warnings() -> list[str]:
    """Return sentences for the user: untested versions, and features that do not work here."""
    texts = [
        f"{what} {version} has not been tested; {tested[0]} to {tested[-1]} have."
        for what, version, tested in (
            ("torch", _torch_version(), TESTED_TORCH),
            ("Python", _python_version(), TESTED_PYTHON),
        )
        if version not in tested
    ]
    missing = [name for name in _missing() if not {STOPS, RECORDING} & set(name.serves)]
    if missing:
        names = ", ".join(map(str, missing))
        off = ", ".join(dict.fromkeys(feature for name in missing for feature in name.serves))
        texts.append(f"torch {_torch_version()} lacks {names}. Off because of that: {off}. The rest works.")
    return texts


def _missing() -> list[TorchName]:
    later = IMPORTED_LATER - sys.modules.keys()
    return [name for name in all_names() if not (name.may_be_absent or name.module in later or is_found(name))]


def _torch_version() -> str:
    return ".".join(str(getattr(sys.modules.get("torch"), "__version__", "unknown")).split(".")[:2])


def _python_version() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"
