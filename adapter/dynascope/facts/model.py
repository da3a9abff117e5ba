"""The facts, one struct per kind; lines count from 1, times are seconds, paths are real paths as the program saw them.

`compile` and `source` are numbers of the store: of the compile a fact belongs to, and of the content the file had.
Whoever writes leaves both 0. Texts are Dynamo's own: tensors as FX writes them (`f32[s77, 16]`, `f32[8] cuda:0`),
symbols as sympy does.
"""

from __future__ import annotations

import zlib
from typing import Literal

from msgspec import Struct, field

LINE_HASH_BYTES = 4

CompileStatus = Literal["compiled", "empty", "skipped", "failed", "captured"]
"""`empty`: traced, but no graph came of it; `skipped`: runs uncompiled, see `skip_reason`; `captured`: by compiled
autograd."""

TensorRole = Literal["assigned", "parameter"]

BreakEffect = Literal["resumed", "rest uncompiled", "function uncompiled", "raised"]
"""What came of a graph break. `resumed`: a graph before it, and one after it; `rest uncompiled`: a graph before it, the
rest of the function runs as plain Python; `function uncompiled`: all of it does; `raised`: `fullgraph=True` made it an
error."""


def hash_lines(text: str) -> list[bytes]:
    """One hash of `LINE_HASH_BYTES` per line, of the line without its line end."""
    hashes = hash_source(text.encode(errors="surrogatepass"))
    return [hashes[i : i + LINE_HASH_BYTES] for i in range(0, len(hashes), LINE_HASH_BYTES)]


def hash_source(content: bytes) -> bytes:
    """The hashes of `hash_lines`, joined. Lines as editors count them: form feeds and Unicode separators end none."""
    lines = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n").removesuffix(b"\n").split(b"\n")
    return b"".join([zlib.crc32(line).to_bytes(LINE_HASH_BYTES, "little") for line in lines])


class Run(Struct, kw_only=True):
    """One process that recorded, or one imported log. `ended` is None while it runs, or when it was killed."""

    id: int = 0
    launch: str
    """What one command started: the same text in every process of it."""
    origin: Literal["recorded", "imported"] = "recorded"
    program: str
    """The command line: see `command_line`."""
    folder: str
    host: str
    pid: int
    python_version: str
    torch_version: str
    rank: int | None = None
    """Of a process of `torch.distributed`: its RANK."""
    began: float
    """Unix time."""
    ended: float | None = None


class Source(Struct, kw_only=True):
    """A file as it was when it was traced; `line_hashes` is empty for code that has no file."""

    id: int
    path: str
    line_hashes: list[bytes]


class StackFrame(Struct, array_like=True, frozen=True):
    """One frame of a user stack."""

    path: str
    line: int
    function: str


class Fact(Struct, kw_only=True, gc=False):
    """Base of everything that belongs to a compile and a line; it holds no cycles, so the collector need not see it."""

    path: str
    line: int
    compile: int = 0
    source: int = 0


class Compile(Struct, kw_only=True):
    """One attempt of Dynamo to compile one frame, from the call-back to the guards (restarts included).

    `function`, `path`, `line` name the user's function, also for what follows a graph break (then `resumes_at` is the
    line it goes on at). `line` is the first of the code object: its decorator's, if it has one.
    """

    id: int = 0
    run: int = 0
    source: int = 0
    compile_id: str
    """Dynamo's: `0/1`, frame / compile of that frame; empty for a frame skipped before it had one."""
    attempts: int = 1
    """How often the frame was traced: 1 without restarts."""
    function: str
    path: str
    line: int
    resumes_at: int | None = None
    backend: str = ""
    reason: str | None = None
    """Why it was compiled again; None for a first compile."""
    status: CompileStatus
    skip_reason: str | None = None
    failure: str | None = None
    """`TypeError: …`, when status is "failed"."""
    began: float
    seconds: float
    """Everything: tracing, the backend, guards; not the time in which a debugger held the thread."""
    backend_seconds: float = 0.0
    graphs: int = 0
    nodes: int = 0
    """Operations in its graphs: inputs and the output not counted."""


class Call(Fact, kw_only=True, gc=False):
    """A function traced inline (or the frame itself): one row per call site and caller, however often it was called."""

    id: int
    """Within the compile, from 0: the compiled frame itself."""
    parent: int | None
    function: str
    first_line: int
    call_path: str | None = None
    """`path`, `line` are the callee's definition; this and `call_line` where it was called from."""
    call_line: int | None = None
    count: int = 1


class Tensor(Fact, kw_only=True, gc=False):
    """A name that held a tensor, or a symbolic number, after this line: once per distinct value and compile."""

    name: str
    value: str
    """`f32[s77, 16]`, or `s77 + 1`."""
    role: TensorRole = "assigned"
    """A parameter's line is the first of its function's code."""
    node: str | None = None
    """The graph's node that computes it, the first time."""
    origin: str | None = None
    """Where the program had it, `L['x']`, when it is an input of the graph."""
    count: int = 1


class Symbol(Fact, kw_only=True, gc=False):
    """A symbol of the compile's shapes; `path` and `line` are where it came up ("" and 0: unknown)."""

    name: str
    hint: str | None
    """Its value in the call that was traced; None for data that the trace does not know."""
    low: str
    high: str
    origins: list[str] = field(default_factory=list)
    """`L['x'].size()[0]`."""
    replacement: str | None = None
    constraints: list[str] = field(default_factory=list)


class GraphBreak(Fact, kw_only=True, gc=False):
    """A graph break, at the innermost line that is not Dynamo's own. `stack` is outermost first."""

    function: str
    registry_id: str | None
    """`GB0059`, of PyTorch's graph-break registry; None when its type is not in it.

    This and the texts below are those of the cause, where Dynamo met other breaks while it handled it.
    """
    type: str
    """The registry's name of it: "Data-dependent branching"."""
    reason: str
    """Dynamo's message, in full, with nested breaks: the key in `torch._dynamo.utils.counters["graph_break"]`."""
    context: str = ""
    explanation: str = ""
    hints: list[str] = field(default_factory=list)
    stack: list[StackFrame] = field(default_factory=list)
    effect: BreakEffect = "resumed"
    counted: int = 0
    """How often Dynamo counted it in `counters["graph_break"]`: not when a jump broke, nor when nothing was resumed."""
    count: int = 1
    """How often the same break came up in the same compile."""


class Guard(Fact, kw_only=True, gc=False):
    """What must hold for the compiled code to be used again; `path` and `line` are the user's ("" and 0: unknown)."""

    expression: str
    """What is guarded: `L['x']`."""
    kind: str
    """`TENSOR_MATCH`, `SHAPE_ENV`, …"""
    code: list[str] = field(default_factory=list)


class Recompile(Fact, kw_only=True, gc=False):
    """Why an earlier compile of this frame could not be used; `path` and `line` are the function's."""

    function: str
    failed_compile_id: str
    """The earlier compile: `0/0`."""
    guard: str
    """The guard that failed, as Dynamo writes it."""
    value: str | None = None
    """What it met: `x: f32[8, 16]`."""
    guard_path: str | None = None
    """The user's line that the guard came from, when Dynamo says so."""
    guard_line: int | None = None
    hint: str | None = None
    """Dynamo's advice about this guard."""
    limit_reached: bool = False
    """Dynamo gives up on this function: its cache is full."""


class Specialization(Fact, kw_only=True, gc=False):
    """A size or number that Dynamo fixed to the value it had."""

    symbol: str
    value: str
    reason: str
    origins: list[str] = field(default_factory=list)
    stack: list[StackFrame] = field(default_factory=list)


class BackendFailure(Fact, kw_only=True, gc=False):
    """The backend could not compile a graph that ends at this line."""

    backend: str
    exception: str
    message: str


class LineTime(Fact, kw_only=True, gc=False):
    """Time Dynamo spent to trace this line, what it calls excluded; `visits` counts how often it began."""

    seconds: float
    visits: int


class CompileFacts(Struct, kw_only=True):
    """All that is known of one compile: what a writer takes, as one transaction."""

    compile: Compile
    calls: list[Call] = field(default_factory=list)
    tensors: list[Tensor] = field(default_factory=list)
    symbols: list[Symbol] = field(default_factory=list)
    graph_breaks: list[GraphBreak] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)
    recompiles: list[Recompile] = field(default_factory=list)
    specializations: list[Specialization] = field(default_factory=list)
    backend_failures: list[BackendFailure] = field(default_factory=list)
    line_times: list[LineTime] = field(default_factory=list)
