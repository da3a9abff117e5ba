"""Checks messages against the DAP JSON schema that ships in debugpy's wheel."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema

SCHEMA_IN_DEBUGPY = "_vendored/pydevd/_pydevd_bundle/_debug_adapter/debugProtocol.json"
NOT_IN_SCHEMA = {"debugpySystemInfo", "dynascopeCompare", "dynascopeSay", "dynascopeTimeline"}
"""A request of debugpy's own that is passed on, and those of Dynascope's own."""
EVENTS_NOT_IN_SCHEMA = {"dynascopeRank"}
"""Events of Dynascope's own."""
NEWER_CAPABILITIES = {"breakpointModes"}
"""Of DAP 1.65, which the schema in debugpy is older than."""

_LOCATION = {"type": "object", "properties": {"source": {"$ref": "#/definitions/Source"}, "line": {"type": "integer"}}}
NEWER_DEFINITIONS: dict[str, Any] = {
    "LocationsRequest": {
        "type": "object",
        "required": ["arguments"],
        "properties": {"arguments": {"$ref": "#/definitions/LocationsArguments"}},
    },
    "LocationsArguments": {
        "type": "object",
        "required": ["locationReference"],
        "properties": {"locationReference": {"type": "integer"}},
    },
    "LocationsResponse": {
        "type": "object",
        "required": ["body"],
        "properties": {"body": _LOCATION | {"required": ["source", "line"]}},
    },
}
"""Of DAP 1.68, likewise."""

Message = dict[str, Any]


def violations(message: Message) -> list[str]:
    """What is wrong with a message, in words; [] when nothing is."""
    name = _definition(message)
    if name is None:
        return []
    if name not in definitions():
        return [f"{name} is not in the schema"]
    return [f"{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}" for error in _errors(name, message)]


def _definition(message: Message) -> str | None:
    match message.get("type"):
        case "request":
            command = str(message.get("command"))
            return None if command in NOT_IN_SCHEMA else f"{_capitalised(command)}Request"
        case "event":
            event = str(message.get("event"))
            return None if event in EVENTS_NOT_IN_SCHEMA else f"{_capitalised(event)}Event"
        case "response" if not message.get("success"):
            return "ErrorResponse" if message.get("body") else "Response"
        case "response":
            command = str(message.get("command"))
            return None if command in NOT_IN_SCHEMA else f"{_capitalised(command)}Response"
        case _:
            return "ProtocolMessage"


def _capitalised(name: str) -> str:
    return name[:1].upper() + name[1:]


@cache
def definitions() -> dict[str, Any]:
    spec = find_spec("debugpy")
    assert spec is not None and spec.origin is not None
    schema: dict[str, Any] = json.loads((Path(spec.origin).parent / SCHEMA_IN_DEBUGPY).read_text())
    definitions: dict[str, Any] = schema["definitions"]
    # a launch configuration fits the schema of attach as well, so "one of" them is never true
    choice = definitions["RestartArguments"]["properties"]["arguments"]
    choice["anyOf"] = choice.pop("oneOf")
    for reference in ("declarationLocationReference", "valueLocationReference"):
        definitions["Variable"]["properties"][reference] = {"type": "integer"}
    _, evaluated = definitions["EvaluateResponse"]["allOf"]
    evaluated["properties"]["body"]["properties"]["valueLocationReference"] = {"type": "integer"}
    for breakpoint in ("SourceBreakpoint", "InstructionBreakpoint"):
        definitions[breakpoint]["properties"]["mode"] = {"type": "string"}
    return definitions | NEWER_DEFINITIONS


@cache
def _validator(name: str) -> jsonschema.Draft4Validator:
    return jsonschema.Draft4Validator({"$ref": f"#/definitions/{name}", "definitions": definitions()})


def _errors(name: str, message: Message) -> Iterator[jsonschema.ValidationError]:
    return iter(_validator(name).iter_errors(message))


def capabilities() -> set[str]:
    """The names the schema knows as capabilities."""
    return set(definitions()["Capabilities"]["properties"]) | NEWER_CAPABILITIES
