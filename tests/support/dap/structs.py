"""The structs of DAP's types, made from the protocol's JSON schema.

`python -m tests.support.dap.structs` writes them; a module that is stale fails the tests. The tables name the types and
the fields that Dynascope fills in or reads: msgspec skips others, and what is only passed on keeps its own.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.dap.schema import definitions

ADAPTER = Path(__file__).parents[3] / "adapter" / "dynascope"
EXCHANGED, READ = ADAPTER / "wire" / "dap.py", ADAPTER / "dap" / "protocol" / "arguments.py"

_EXCHANGED = """
Source: name path sourceReference presentationHint origin
StackFrame: id name line column endLine endColumn source presentationHint instructionPointerReference canRestart
Scope: name variablesReference expensive presentationHint namedVariables indexedVariables source
VariablePresentationHint: kind attributes lazy
Variable: name value variablesReference type evaluateName namedVariables indexedVariables presentationHint \
declarationLocationReference valueLocationReference targetId __vscodeVariableMenuContext
EvaluateResult = EvaluateResponse.body: result variablesReference type namedVariables indexedVariables \
presentationHint valueLocationReference
Breakpoint: id verified line message source instructionReference reason
ClientBreakpoint = SourceBreakpoint: line column condition hitCondition logMessage mode
SourceBreakpoint(ClientBreakpoint): id
ClientFunctionBreakpoint = FunctionBreakpoint: name condition hitCondition
FunctionBreakpoint(ClientFunctionBreakpoint): id
ClientInstructionBreakpoint = InstructionBreakpoint: instructionReference offset condition hitCondition
InstructionBreakpoint(ClientInstructionBreakpoint): id
DataAccess = DataBreakpointAccessType
ClientDataBreakpoint = DataBreakpoint: dataId accessType condition hitCondition
DataBreakpoint(ClientDataBreakpoint): id
DisassembledInstruction: address instruction symbol location line column endLine endColumn presentationHint
DisassembleBody = DisassembleResponse.body: instructions
StepInTarget: id label line column endLine endColumn
StepInTargetsBody = StepInTargetsResponse.body: targets
GotoTarget: id label line
GotoTargetsBody = GotoTargetsResponse.body: targets
BreakpointLocation: line
BreakpointLocationsBody = BreakpointLocationsResponse.body: breakpoints
DataBreakpointInfo = DataBreakpointInfoResponse.body: dataId description accessTypes canPersist
SetExpressionBody = SetExpressionResponse.body: value type variablesReference namedVariables indexedVariables
ScopesBody = ScopesResponse.body: scopes
VariablesBody = VariablesResponse.body: variables
SourceBody = SourceResponse.body: content mimeType
LoadedSourcesBody = LoadedSourcesResponse.body: sources
Module: id name path isOptimized isUserCode symbolStatus
ModulesBody = ModulesResponse.body: modules
LocationsBody = LocationsResponse.body: source line
StackTraceBody = StackTraceResponse.body: stackFrames totalFrames
BreakpointsBody = SetBreakpointsResponse.body: breakpoints
Thread: id name
ThreadsBody = ThreadsResponse.body: threads
ExceptionDetails: message typeName fullTypeName stackTrace innerException
ExceptionInfo = ExceptionInfoResponse.body: exceptionId breakMode description details
Stopped = StoppedEvent.body: reason threadId description text allThreadsStopped hitBreakpointIds
ThreadChange = ThreadEvent.body: reason threadId
Output = OutputEvent.body: output category
Exited = ExitedEvent.body: exitCode
BreakpointChange = BreakpointEvent.body: reason breakpoint
ContinueBody = ContinueResponse.body: allThreadsContinued
RunInTerminal = RunInTerminalRequestArguments: args cwd env
StartDebugging = StartDebuggingRequestArguments: configuration
ExceptionBreakpointsFilter: filter label description default
Capabilities: supportsExceptionFilterOptions exceptionBreakpointFilters
"""
_READ = """
ValueFormat: hex
InitializeArguments = InitializeRequestArguments: linesStartAt1 columnsStartAt1 pathFormat \
supportsRunInTerminalRequest supportsStartDebuggingRequest supportsProgressReporting supportsInvalidatedEvent \
supportsVariablePaging
DisconnectArguments: restart terminateDebuggee suspendDebuggee
TerminateArguments: restart
SetBreakpointsArguments: source breakpoints lines
SetFunctionBreakpointsArguments: breakpoints
SetInstructionBreakpointsArguments: breakpoints
BreakpointLocationsArguments: source line endLine
DisassembleArguments: memoryReference instructionCount offset instructionOffset
DataBreakpointInfoArguments: name variablesReference frameId
SetDataBreakpointsArguments: breakpoints
ExceptionFilterOptions: filterId condition
ExceptionPathSegment: names negate
ExceptionOptions: breakMode path
SetExceptionBreakpointsArguments: filters filterOptions exceptionOptions
ThreadArguments = PauseArguments: threadId
ResumeArguments = ContinueArguments: threadId singleThread
StepArguments = StepInArguments: threadId singleThread granularity targetId
StackFrameFormat(ValueFormat): parameters parameterTypes parameterNames parameterValues line module includeAll
StackTraceArguments: threadId startFrame levels format
FrameArguments = ScopesArguments: frameId
VariablesArguments: variablesReference filter start count format
EvaluateArguments: expression frameId context format
CompletionsArguments: text column line frameId
SetVariableArguments: variablesReference name value format
SetExpressionArguments: expression value frameId format
SourceArguments: sourceReference source
CancelArguments: requestId progressId
LocationsArguments: locationReference
GotoTargetsArguments: source line
GotoArguments: threadId targetId
ModulesArguments: startModule moduleCount
"""
_HEADS = {
    EXCHANGED: '''"""The Debug Adapter Protocol types that agent, adapter and terminal exchange.

Made from the protocol's JSON schema by `make dap-structs`; https://microsoft.github.io/debug-adapter-protocol/specification.
"""
''',
    READ: '''"""The arguments of the requests that are served.

Made from the protocol's JSON schema by `make dap-structs`; https://microsoft.github.io/debug-adapter-protocol/specification.
"""
''',
}
_BASE = '''

class DapStruct(Struct, kw_only=True, omit_defaults=True, rename="camel"):
    """Base of every DAP structure: defaults are left out, and names are camelCase on the wire."""
'''
_INTEGER, _STRING = {"type": "integer"}, {"type": "string"}
_OURS = {
    "Variable": {"targetId": _INTEGER, "__vscodeVariableMenuContext": _STRING},
    "SourceBreakpoint": {"id": _INTEGER},
    "FunctionBreakpoint": {"id": _INTEGER},
    "InstructionBreakpoint": {"id": _INTEGER},
    "DataBreakpoint": {"id": _INTEGER},
}
"""What Dynascope adds: the place that a row of a history is about, VS Code's menu, the ids that the adapter gives."""
_ALWAYS = {"id", "threadId"}
"""What DAP makes optional, and all of ours have."""
_MAY_BE_MISSING = {"filters", "sourceReference"}
"""What DAP requires, and some clients leave out."""
_ABSENT_IS_TRUE = {"linesStartAt1", "columnsStartAt1", "allThreadsContinued"}
_ABSENT_IS_NEITHER = {"canPersist", "canRestart", "lazy", "terminateDebuggee"}
_TYPES = {
    "integer": "int",
    "number": "float",
    "string": "str",
    "boolean": "bool",
    "null": "None",
    "object": "dict[str, Any]",
}


class Row(NamedTuple):
    """A row of a table: the struct `name`, after DAP's type `of`, with these fields."""

    name: str
    base: str
    of: str
    fields: list[str]


def _rows(table: str) -> list[Row]:
    rows = []
    for line in table.strip().splitlines():
        head, _, fields = line.partition(":")
        name, base, of = re.fullmatch(r"(\w+)(?:\((\w+)\))?(?: = ([\w.]+))?", head).groups()  # type: ignore[union-attr]
        rows.append(Row(name, f"{base}, kw_only=True" if base else "DapStruct", of or name, fields.split()))
    return rows


_TABLES = {EXCHANGED: _rows(_EXCHANGED), READ: _rows(_READ)}
_NAMES = {row.of: row.name for rows in _TABLES.values() for row in reversed(rows)}
"""The names of the structs by DAP's; the first row about a type is meant."""


def module(path: Path) -> str:
    """Return what the module with this path should say."""
    structs = "".join(map(_struct, _TABLES[path]))
    base = _BASE if path == EXCHANGED else ""
    used = set(re.findall(r"\b[A-Z]\w+", structs))
    exchanged = {row.name for row in _TABLES[EXCHANGED]} | {"DapStruct"}
    imported = sorted(exchanged & used) if path == READ else []
    imports = [
        f"from typing import {', '.join(sorted({'Any', 'Literal'} & used))}\n",
        *(["from dynascope.wire.dap import (", *(f"    {each}," for each in imported), ")"] if imported else []),
        *([] if imported else ["from msgspec import Struct, field"]),
    ]
    return "\n".join([_HEADS[path], "from __future__ import annotations\n", *imports, ""]) + base + structs


def _struct(row: Row) -> str:
    definition = _definition(row.of)
    if not row.fields:
        return f"\n\n{row.name} = {_type(definition)}\n"
    fields = "".join(f"    {_field(row.of, name, definition)}\n" for name in row.fields)
    return f"\n\nclass {row.name}({row.base}):\n{fields}"


def _definition(name: str) -> dict[str, Any]:
    """Return the schema of a type, or of the body of a response or event."""
    name, _, body = name.partition(".")
    definition = definitions()[name]
    for part in definition.get("allOf", ()):
        if "$ref" not in part:
            definition = part
    return definition["properties"][body] if body else definition  # type: ignore[no-any-return]


def _field(struct: str, name: str, definition: dict[str, Any]) -> str:
    schema = {**definition["properties"], **_OURS.get(struct, {})}[name]
    ours = re.sub(r"(?<=[a-z])[A-Z]", lambda found: f"_{found[0].lower()}", name.removeprefix("__vscodeVariable"))
    ours = ours[0].lower() + ours[1:]
    kind = _type(schema)
    if name in _ALWAYS or name in {*definition.get("required", ())} - _MAY_BE_MISSING:
        return f"{ours}: {kind}"
    default = f"{name in _ABSENT_IS_TRUE}" if kind == "bool" and name not in _ABSENT_IS_NEITHER else "None"
    named = f'field(default=None, name="{name}")' if name.startswith("__") else default
    return f"{ours}: {kind} = {named}" if default != "None" else f"{ours}: {kind} | None = {named}"


def _type(schema: dict[str, Any]) -> str:
    """Return the annotation for a schema; an open list of values is any text."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return _NAMES[name] if name in _NAMES else _type(definitions()[name])
    if "enum" in schema:
        return "Literal[" + ", ".join(f'"{each}"' for each in schema["enum"]) + "]"
    kind = schema.get("type")
    if kind == "array":
        return f"list[{_type(schema['items'])}]"
    if kind == "object" and "additionalProperties" in schema and isinstance(schema["additionalProperties"], dict):
        return f"dict[str, {_type(schema['additionalProperties'])}]"
    return " | ".join(_TYPES[each] for each in (kind if isinstance(kind, list) else [kind]))


if __name__ == "__main__":
    for each in _TABLES:
        each.write_text(module(each))
