"""The settings under `dynascope.languageServer` in the client's configuration (or in `initializationOptions`)."""

from __future__ import annotations

import logging
from typing import Any, Literal

import msgspec
from lsprotocol.types import DiagnosticSeverity
from msgspec import Struct, field

log = logging.getLogger(__name__)

SECTION = "dynascope.languageServer"

Severity = Literal["error", "warning", "information", "hint", "off"]
Kind = Literal[
    "graphBreak", "predicted", "recompile", "recompileLimit", "specialization", "skippedFrame", "backendFailure"
]
"""The kinds of diagnostics; those at which the debugger can stop have the names of its exception filters."""

SEVERITIES = {
    "error": DiagnosticSeverity.Error,
    "warning": DiagnosticSeverity.Warning,
    "information": DiagnosticSeverity.Information,
    "hint": DiagnosticSeverity.Hint,
}


class Severities(Struct, frozen=True, rename="camel"):
    """A severity for each kind of diagnostic; `off` hides it."""

    graph_break: Severity = "warning"
    predicted: Severity = "information"
    recompile: Severity = "information"
    recompile_limit: Severity = "warning"
    specialization: Severity = "information"
    skipped_frame: Severity = "information"
    backend_failure: Severity = "error"

    def of(self, kind: Kind) -> DiagnosticSeverity | None:
        """Return LSP's severity of a kind; None if it is hidden."""
        chosen: str = getattr(self, _ATTRIBUTES[kind])
        return SEVERITIES.get(chosen)


_ATTRIBUTES = dict(zip(Severities.__struct_encode_fields__, Severities.__struct_fields__, strict=True))


class InlayHints(Struct, frozen=True, rename="camel"):
    """`compile`, whose shapes are shown: `latest`, `first`, `all` (every distinct one), or a compile id like `0/1`."""

    enabled: bool = True
    parameters: bool = True
    compile: str = "latest"


class Settings(Struct, frozen=True, rename="camel"):
    """All settings; one that is not set, or has an invalid value, has its default."""

    severity: Severities = field(default_factory=Severities)
    predictions: bool = True
    inlay_hints: InlayHints = field(default_factory=InlayHints)
    code_lens: bool = True


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
