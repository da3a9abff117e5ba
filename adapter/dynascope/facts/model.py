"""The facts, one struct per kind; lines count from 1, times are seconds, paths are real paths on the program's machine.

`compile` and `source` are numbers of the store: of the compile that a fact belongs to, and of the file's content. Both
are 0 in facts to be written. Texts are Dynamo's own: tensors in FX notation (`f32[s77, 16]`, `f32[8] cuda:0`), symbols
in sympy's.
"""

from __future__ import annotations

import re
import zlib
from typing import Literal

from msgspec import Struct, field

from dynascope.facts.branch import Branch
from dynascope.facts.generated.model import Bytecode, Graph, GuardCosts, LaterForm
from dynascope.facts.profile import Profile
from dynascope.facts.user_stack import UserFrame

LINE_HASH_BYTES = 4
_COMMENT = re.compile(rb"(?:^|\s)#[^'\"]*$")
"""A comment, unless it may be the end of a text that has a `#` in it."""
SHORTEST_WAIT = 0.1
"""Seconds of waiting for other ranks that are worth a word."""

CompileStatus = Literal["compiled", "empty", "skipped", "failed", "captured"]
"""`empty`: traced, without a graph; `skipped`: runs uncompiled, see `skip_reason`; `captured`: by compiled autograd."""

COMPILES: tuple[CompileStatus, ...] = ("compiled", "empty", "failed")
"""The statuses of what counts as a compile."""

TensorRole = Literal["assigned", "parameter"]

VaryingKind = Literal["set", "added", "beside", "mark", "view", "seen"]
"""How a program shows that a guarded value will change. `set`: the call itself changes it; `added`:
it sets in an object what only its class had; `beside`: it is another in
modules of the same list; `mark`: the size is marked dynamic; `view`: that of the tensor it is a view of is; `seen`: it
was another when another function was compiled."""

BreakEffect = Literal["resumed", "region uncompiled", "rest uncompiled", "function uncompiled", "raised"]
"""The effect of a graph break. `resumed`: a graph before it and one after it; `region uncompiled`: it is in a region of
`torch.utils.checkpoint`, all of which runs as plain Python between two graphs; `rest uncompiled`: a graph before it,
the rest of the function runs as plain Python; `function uncompiled`: all of it does; `raised`: it is an error, because
of `fullgraph=True`, `error_on_graph_break` or an export."""


def hash_lines(text: str) -> list[bytes]:
    """Return a hash of `LINE_HASH_BYTES` bytes for each line, see `hash_source`."""
    return apart(hash_source(text.encode(errors="surrogatepass")))


def apart(hashes: bytes) -> list[bytes]:
    """Return joined line hashes one by one."""
    return [hashes[i : i + LINE_HASH_BYTES] for i in range(0, len(hashes), LINE_HASH_BYTES)]


def hash_source(content: bytes) -> bytes:
    """Return joined line hashes; as in editors, form feeds and Unicode separators end no line.

    Lines that differ only in white space or in a comment at their end have the same hash.
    """
    lines = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n").removesuffix(b"\n").split(b"\n")
    return b"".join([zlib.crc32(_without_layout(line)).to_bytes(LINE_HASH_BYTES, "little") for line in lines])


def _without_layout(line: bytes) -> bytes:
    if b"#" in line:
        line = _COMMENT.sub(b"", line)
    has_text = b"'" in line or b'"' in line
    return line.strip() if has_text else b"".join(line.split())


class Run(Struct, kw_only=True):
    """One process that recorded, or one imported log.

    `ended` is None while it runs, when it was killed, and when only a part of it was recorded.
    """

    id: int = 0
    launch: str
    """The launch: the same text in every process that one command started."""
    origin: Literal["recorded", "imported"] = "recorded"
    program: str
    """The command line: see `command_line`."""
    folder: str
    host: str
    pid: int
    python_version: str
    torch_version: str
    rank: int | None = None
    """The RANK of a process of `torch.distributed`."""
    alike: list[int] = field(default_factory=list)
    """The ranks that compiled the same, and are shown as this one. Not stored: see `facts.alike`."""
    began: float
    """Unix time."""
    ended: float | None = None


class TracedSource(Struct, kw_only=True):
    """The content of a file when it was traced; `line_hashes` is empty for code that has no file."""

    id: int
    path: str
    line_hashes: list[bytes]


class Fact(Struct, kw_only=True, gc=False):
    """Base of facts about a line in a compile; without cycles, so that the garbage collector need not track it."""

    path: str
    line: int
    compile: int = 0
    source: int = 0


class Compile(Struct, kw_only=True):
    """One attempt of Dynamo to compile one frame, from the call-back to the guards (restarts included).

    `function`, `path`, `line` are the user's function, also for a resume function (then `resumes_at` is the line at
    which it resumes). `line` is the first of the code object: its decorator's, if it has one.
    """

    id: int = 0
    run: int = 0
    source: int = 0
    compile_id: str
    """Dynamo's id: `0/1`, frame / compile of that frame; empty for a frame skipped before it had one."""
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
    """The whole time: tracing, the backend, guards; without the time in which a debugger stopped the thread."""
    backend_seconds: float = 0.0
    rank_wait_seconds: float = 0.0
    """The part of `seconds` in which a compiler collective waited for other ranks; no line's time includes it."""
    graphs: int = 0
    nodes: int = 0
    """The number of operations in its graphs, without inputs and outputs."""


class InlinedCall(Fact, kw_only=True, gc=False):
    """A function traced inline (or the frame itself): one row per call site and caller, for all its calls."""

    id: int
    """The number within the compile; 0 is the compiled frame itself."""
    parent: int | None
    function: str
    first_line: int
    call_path: str | None = None
    """The file of the call site; `path` and `line` are the callee's definition."""
    call_line: int | None = None
    count: int = 1


class TracedTensor(Fact, kw_only=True, gc=False):
    """A name whose value after this line was a tensor or a symbolic number: once per distinct value and compile."""

    name: str
    value: str
    """`f32[s77, 16]`, or `s77 + 1`."""
    role: TensorRole = "assigned"
    """A parameter's line is the first of its function's code."""
    node: str | None = None
    """The graph node that first computes it."""
    origin: str | None = None
    """Its source, `L['x']`, if it is an input of the graph."""
    count: int = 1


class Symbol(Fact, kw_only=True, gc=False):
    """A symbol of the compile's shapes; `path` and `line` are where it was created ("" and 0: unknown)."""

    name: str
    hint: str | None
    """Its value in the traced call; None for a data-dependent one."""
    low: str
    high: str
    origins: list[str] = field(default_factory=list)
    """Its sources: `L['x'].size()[0]`."""
    replacement: str | None = None
    constraints: list[str] = field(default_factory=list)


class GraphBreak(Fact, kw_only=True, gc=False):
    """A graph break, at the innermost line outside Dynamo. `stack` has the outermost frame first."""

    function: str
    registry_id: str | None
    """`GB0059`, of PyTorch's graph-break registry; None when its type is not in it.

    Of nested breaks, this and the next texts are those of the cause.
    """
    type: str
    """Its name in the registry: "Data-dependent branching"."""
    reason: str
    """Dynamo's whole message, with nested breaks: the key in `torch._dynamo.utils.counters["graph_break"]`."""
    context: str = ""
    explanation: str = ""
    hints: list[str] = field(default_factory=list)
    branch: Branch = ""
    """Whether its condition only raises, or ends a loop; "" for other conditions, and where there is none."""
    stack: list[UserFrame] = field(default_factory=list)
    effect: BreakEffect = "resumed"
    counted: int = 0
    """How often `counters["graph_break"]` counted it: not for breaks at jumps, nor if nothing was resumed."""
    count: int = 1
    """How often the same break happened in the compile."""


class Guard(Fact, kw_only=True, gc=False):
    """A condition of the compiled code; `path` and `line` are the user's ("" and 0: unknown)."""

    expression: str
    """The guarded expression: `L['x']`."""
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
    """The value that failed it: `x: f32[8, 16]`."""
    guard_path: str | None = None
    """The file of the user's line that the guard came from, if Dynamo gives it."""
    guard_line: int | None = None
    hint: str | None = None
    """Dynamo's advice about this guard."""
    limit_reached: bool = False
    """Whether Dynamo gives up on this function, because its cache is full."""


class TracedFact(Fact, kw_only=True, gc=False):
    """A fact that happens where a line is traced, with the frames, outermost first."""

    path: str = ""
    line: int = 0
    stack: list[UserFrame] = field(default_factory=list)


class Specialization(TracedFact, kw_only=True, gc=False):
    """A size or number that Dynamo fixed to the value it had."""

    symbol: str
    value: str
    reason: str
    origins: list[str] = field(default_factory=list)
    beside: str = ""
    """Another input of the operation that has this size, `bias: f32[4, 3]`; "" if there is none.

    A parameter or buffer of a module is told as `parameter self.bias: f32[3]`.
    """
    backend: str = ""
    """The backend that fixed it while it compiled the graph, whose last line is told; "" where a line did."""


class VaryingGuard(Fact, kw_only=True, gc=False):
    """A guard that will fail later; `path` and `line` are the user's line that needs it."""

    kind: VaryingKind
    expression: str
    """The pinned value: `L['self'].step`, `len(L['self'].history)`, `L['x'].size()[0]`."""
    value: str
    """The text of the value that the guard wants."""
    others: list[str] = field(default_factory=list)
    """The other values that the program has shown."""
    guard_of: str = ""
    """The id of the compile that has the guard: `0/0`."""
    function: str = ""
    """The function that was compiled."""
    seen_in: str = ""
    """The compile in which another value was `seen`: `evaluate [1/0]`."""


class BackendFailure(Fact, kw_only=True, gc=False):
    """The backend could not compile a graph that ends at this line."""

    backend: str
    exception: str
    message: str


class CudaGraphsSkipped(TracedFact, kw_only=True, gc=False):
    """Inductor runs a graph without CUDA graphs; the line is named in torch's reason, or is that of the graph's end."""

    reason: str
    """torch's: `mutated inputs (1 instances)`, `cpu device (arg1_1)`."""


class RankDifference(TracedFact, kw_only=True, gc=False):
    """A call that is compiled in another way than in other ranks of the job, with the same collectives."""

    ranks: str
    """The ranks that compile what this process does: `1`, `0, 2-7`."""
    others: str
    """The ranks from which they differ."""
    difference: str
    """The first difference, as a sentence about one rank of each side (`explain.divergences`)."""


class Divergence(RankDifference, kw_only=True, gc=False):
    """A call whose collectives are not those of other ranks, at the line at which they part."""

    effect: Literal["hangs", "wrong"]
    """Whether they call other collectives, or the same ones with other tensors."""
    collectives: str
    """The first collective that differs, as a sentence about both."""


class LineTime(Fact, kw_only=True, gc=False):
    """Dynamo's time to trace this line, without its calls; `visits` counts how often tracing it began."""

    seconds: float
    visits: int


class CompiledCall(Struct):
    """The call for which a function was compiled; `path` and `line` are of the user's own code ("" and 0: unknown)."""

    arguments: list[tuple[str, str]]
    """The parameters, each with its argument as text: `x`, `f32[8, 16]`; each keyword of `**kwargs` by itself."""
    path: str = ""
    line: int = 0
    function: str = ""
    """The function that calls."""
    dynamic: bool | None = None
    """The value of `torch.compile(dynamic=…)` that has the effect of the settings; None also if not recorded."""
    keywords: str = ""
    """The parameter that takes other keywords, `kwargs`; "": there is none, or it is not recorded."""
    layouts: list[tuple[str, str, int]] = field(default_factory=list)
    """The arguments and elements that are tensors and not contiguous, or begin later in their storage.

    Each with its strides as text ("" where it is contiguous) and its storage offset in elements.
    """
    elements: list[tuple[str, str]] = field(default_factory=list)
    """The tensors and numbers in containers and objects that are passed, `batch['x']`, and in the closure."""
    fits: list[str] = field(default_factory=list)
    """The compile ids of cache entries whose guards all hold when torch looks for the one that failed: `0/1`."""


class CompileFacts(Struct, kw_only=True):
    """All facts of one compile, which a writer stores in one transaction."""

    compile: Compile
    calls: list[InlinedCall] = field(default_factory=list)
    tensors: list[TracedTensor] = field(default_factory=list)
    symbols: list[Symbol] = field(default_factory=list)
    graph_breaks: list[GraphBreak] = field(default_factory=list)
    guards: list[Guard] = field(default_factory=list)
    recompiles: list[Recompile] = field(default_factory=list)
    specializations: list[Specialization] = field(default_factory=list)
    varying_guards: list[VaryingGuard] = field(default_factory=list)
    backend_failures: list[BackendFailure] = field(default_factory=list)
    cuda_graphs_skipped: list[CudaGraphsSkipped] = field(default_factory=list)
    divergences: list[Divergence] = field(default_factory=list)
    rank_differences: list[RankDifference] = field(default_factory=list)
    line_times: list[LineTime] = field(default_factory=list)
    call: CompiledCall | None = None
    """None for an imported log."""
    profile: Profile | None = None
    """To be written; `Reader.profiles` reads it, and those of what was compiled later."""
    graphs: list[Graph] = field(default_factory=list)
    """To be written; `generated.recorded` reads them, as what follows."""
    bytecode: Bytecode | None = None
    guard_costs: GuardCosts | None = None
    forms: list[LaterForm] = field(default_factory=list)
