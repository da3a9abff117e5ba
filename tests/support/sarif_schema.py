"""The part of SARIF 2.1.0 (OASIS) that `dynascope check` writes, as a JSON schema that admits nothing else."""

from __future__ import annotations

from typing import Any


def _object(required: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": required.split(),
        "properties": properties,
        "additionalProperties": False,
    }


TEXT = {"type": "string", "minLength": 1}
URI = {"type": "string", "format": "uri-reference"}
MESSAGE = _object("text", text=TEXT)
LEVEL = {"enum": ["none", "note", "warning", "error"]}
LOCATION = {
    "physicalLocation": _object(
        "artifactLocation region",
        artifactLocation=_object("uri", uri=URI, uriBaseId=TEXT),
        region=_object("startLine", startLine={"type": "integer", "minimum": 1}),
    )
}
RULE = _object("id", id=TEXT, name=TEXT, shortDescription=MESSAGE, helpUri={"type": "string", "format": "uri"})
RESULT = _object(
    "ruleId message",
    ruleId=TEXT,
    ruleIndex={"type": "integer", "minimum": 0},
    level=LEVEL,
    message=MESSAGE,
    locations={"type": "array", "items": _object("", **LOCATION)},
    relatedLocations={
        "type": "array",
        "items": _object("", id={"type": "integer", "minimum": 0}, **LOCATION),
        "uniqueItems": True,
    },
    partialFingerprints={"type": "object", "additionalProperties": TEXT},
    occurrenceCount={"type": "integer", "minimum": 1},
)
INVOCATION = _object(
    "executionSuccessful",
    executionSuccessful={"type": "boolean"},
    commandLine=TEXT,
    toolExecutionNotifications={
        "type": "array",
        "items": _object("message", level=LEVEL, message=MESSAGE),
    },
)
SARIF = _object(
    "version runs",
    **{"$schema": {"type": "string", "format": "uri"}},
    version={"enum": ["2.1.0"]},
    runs={
        "type": "array",
        "items": _object(
            "tool",
            tool=_object(
                "driver",
                driver=_object(
                    "name", name=TEXT, version=TEXT, rules={"type": "array", "items": RULE, "uniqueItems": True}
                ),
            ),
            automationDetails=_object("", id=TEXT),
            invocations={"type": "array", "items": INVOCATION},
            columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
            results={"type": "array", "items": RESULT},
        ),
    },
)
