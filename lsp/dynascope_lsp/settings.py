"""The settings under `dynascope.languageServer` in the client's configuration (or in `initializationOptions`)."""

from __future__ import annotations

import logging
from typing import Any, Literal

import msgspec
from dynascope.explain.kinds import KINDS
from lsprotocol.types import DiagnosticSeverity
from msgspec import Struct, field

log = logging.getLogger(__name__)

SECTION = "dynascope.languageServer"

Severity = Literal["error", "warning", "information", "hint", "off"]
DEFAULTS: dict[str, Severity] = {
    "predicted": "information",
    **{kind.name: kind.severity for kind in KINDS.values() if not kind.setting},
}
"""The default severity of each kind of diagnostics. Kinds with an exception filter have its name."""


class InlayHints(Struct, frozen=True, rename="camel"):
    """`compile`, whose shapes are shown: `latest`, `first`, `all` (every distinct one), or a compile id like `0/1`."""

    enabled: bool = True
    parameters: bool = True
    compile: str = "latest"


class Settings(Struct, frozen=True, rename="camel"):
    """All settings; one that is not set, or has an invalid value, has its default."""

    severity: dict[str, Severity] = {}
    """By the kind of diagnostics; `off` hides it."""
    predictions: bool = True
    inlay_hints: InlayHints = field(default_factory=InlayHints)
    code_lens: bool = True

    def severity_of(self, kind: str) -> DiagnosticSeverity | None:
        """Return LSP's severity of a kind of diagnostics; None if it is hidden."""
        chosen = self.severity.get(kind, DEFAULTS[kind])
        return None if chosen == "off" else DiagnosticSeverity[chosen.capitalize()]


def read_settings(value: Any) -> tuple[Settings, str | None]:
    """Return the settings in a client's value, and an error for the user; ignore unknown keys."""
    if not isinstance(value, dict):
        return Settings(), None
    try:
        return msgspec.convert(value, Settings), None
    except msgspec.ValidationError as error:
        problem = str(error).replace("$.", f"{SECTION}.").replace("`$`", SECTION)
    kept = {}
    for key, each in value.items():
        try:
            msgspec.convert({key: each}, Settings)
        except msgspec.ValidationError:
            continue
        kept[key] = each
    return msgspec.convert(kept, Settings), f"Dynascope's settings: {problem}. The default is used."
