"""Record one attempt to trace a frame: what each line assigns and decides, and how long it takes."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import torch

from dynascope.agent.events.frames import bound_names, is_cell
from dynascope.agent.inspection.values.rows import ViewOptions
from dynascope.agent.inspection.values.symbolic_text import variable_text
from dynascope.agent.internals.frames import resume as line_events
from dynascope.agent.internals.frames import translators
from dynascope.agent.internals.symbolic_shapes.shapes import symbols_so_far
from dynascope.agent.internals.variables.assigned import Texts, is_pending, tensor_or_number
from dynascope.agent.internals.variables.variables import SideEffects, extent, is_changed
from dynascope.agent.program.clock import this_threads_clock
from dynascope.agent.program.user_code import has_file
from dynascope.agent.recorder.frame import RecordedFrame
from dynascope.agent.recorder.profile_writer import ProfileWriter
from dynascope.agent.recorder.shown_compile import ShownCompile
from dynascope.agent.tape.code import code_facts
from dynascope.agent.tape.line_writer import LineWriter, writer_of
from dynascope.agent.tape.tape import Segment, Tape
from dynascope.agent.tape.trails import trail_of
from dynascope.facts.comparison.trail import Trail
from dynascope.facts.model import LineTime, TensorRole, TracedTensor
from dynascope.facts.profile import NO_PARENT
from dynascope.facts.user_stack import UserFrame

LineTimes = dict[str, dict[int, list[float]]]
"""[seconds, visits] by path and line."""


class Trace:
    """The facts of an attempt so far; `times` and `profile` belong to the compile and add up over attempts."""

    def __init__(self, times: LineTimes, profile: ProfileWriter, shown: ShownCompile) -> None:
        self.tensors: dict[tuple[str, int, str, str, TensorRole], TracedTensor] = {}
        self.output: Any = None
        self.last_place: tuple[str, int] | None = None
        """Path and line where a frame was last left: the outermost frame's when a compile fails."""
        self.tape = Tape()
        self._lines: LineWriter | None = None
        """Writes the tape. None before the first line, as a debugger begins after this, and at the end."""
        self._segment: Segment = 0
        """The latest segment of the tape, as this knows it."""
        self._texts: Texts = {}
        self._times = times
        self._profile = profile
        self._shown = shown
        self._frames: list[RecordedFrame] = []
        self._now = this_threads_clock().now
        self._since = self._now()
        self._phases = 0
        """How many phases of torch have begun within lines and not ended."""
        self._sources: dict[str, str] | None = None
        """The source of each symbol, once the trace has ended."""

    def entered(self, translator: Any) -> None:
        self._charge()
        caller = self._frames[-1] if self._frames else None
        if caller is None:
            self.output = translators.output_of(translator)
        else:
            writer = self._writer()
            writer.entered(translator)
            self._segment = writer.segment
        code = code_facts(translator)
        times = self._times.get(code.path)
        if times is None:
            times = self._times[code.path] = {}
        frame = RecordedFrame(translator, code, times)
        above, line = (caller.traced, caller.line) if caller is not None else (NO_PARENT, 0)
        traced = translators.code_of(translator)
        frame.traced = self._profile.entered(above, line, traced, code.function, code.path, code.first_line)
        frame.segment = self._segment
        if code.parameters and line_events.is_fresh(translator):
            for name in code.parameters:
                variable = self._local(translator, name)
                if variable is not None:
                    frame.parameters.append((name, variable))
                    frame.unread.append((frame.segment, name, variable, frame.segment))
            if caller is not None:
                self._decide_read(frame)
        self._frames.append(frame)
        self._since = frame.line_began = self._now()
        frame.user_caller = caller.in_user_code if caller is not None else None
        self._shown.traces(frame)

    def line_begins(self, translator: Any, line: int) -> None:
        now = self._now()
        frame = self._frames[-1] if self._frames else None
        if frame is None or frame.translator is not translator:
            return
        writer, times = self._writer(), frame.times
        spent = times.get(frame.line)
        if spent is not None:
            spent[0] += now - self._since
        self._profile.spent(frame.traced, now - self._since)
        self._line_ends(frame)
        frame.line = line
        writer.line_begins(translator, line)
        frame.segment = self._segment = writer.segment
        spent = times.get(line)
        if spent is None:
            times[line] = [0.0, 1]
        else:
            spent[1] += 1
        self._since = frame.line_began = self._now()
        self._shown.traces(frame)

    def left(self, translator: Any) -> None:
        frame = self._frames[-1] if self._frames else None
        if frame is None or frame.translator is not translator:
            return
        self._charge()
        writer = self._writer()
        self._frames.pop()
        self.last_place = frame.code.path, frame.line
        self._line_ends(frame)
        writer.left(translator)
        self._segment = writer.segment
        for line, name, variable in frame.pending:
            self._note(frame, line, name, variable, "assigned")
        for name, variable in frame.parameters:
            self._note(frame, frame.code.first_line, name, variable, "parameter")
        self._shown.traces(self._frames[-1] if self._frames else None)
        self._since = self._now()

    def _writer(self) -> LineWriter:
        """Return what writes the tape, from the first line on."""
        if self._lines is None:
            outermost = self._frames[0].translator
            self._lines = writer_of(outermost)
            self._lines.entered(outermost)
            self.tape = self._lines.tape
        return self._lines

    @property
    def stack(self) -> list[UserFrame]:
        """Return the traced frames, outermost first; torch's own list is empty in a backend."""
        return [UserFrame(each.code.path, each.line, each.code.function) for each in self._frames]

    def pause(self) -> None:
        """Stop timing the current line while the backend runs."""
        self.phase_begins()
        if self._frames:
            self._writer().grow()  # Dynamo is about to drop the graph

    def phase_begins(self) -> None:
        """Stop timing the current line, if there is one.

        What torch does now has its own row in the profile.
        """
        if self._frames:
            if not self._phases:
                self._charge()
            self._phases += 1

    def phase_ends(self) -> None:
        """Go on timing the line once no phase is left that began in it."""
        if self._phases:
            self._phases -= 1
            if not self._phases:
                self._since = self._now()

    def _charge(self) -> None:
        if self._frames:
            frame, now = self._frames[-1], self._now()
            seconds, self._since = now - self._since, now
            spent = frame.times.get(frame.line)
            if spent is not None:
                spent[0] += seconds
            self._profile.spent(frame.traced, seconds)

    def _line_ends(self, frame: RecordedFrame) -> None:
        if frame.unread:
            self._decide_read(frame)
        if frame.containers:
            self._decide_changed(frame)
        names = frame.code.stored.get(frame.line)
        if names is not None:
            self._assigned(frame, names)

    def finished_trail(self, is_repeated: bool = False) -> Trail:
        """Return the trail of this attempt; `is_repeated`: Dynamo traces the frame again."""
        return trail_of(self.tape, self._sources_of_symbols(), is_repeated)

    def _sources_of_symbols(self) -> dict[str, str]:
        if self._sources is not None:
            return self._sources
        facts = symbols_so_far(self.output) if self.output is not None else []
        return {each.name: each.sources[0] for each in facts if each.sources}

    def ends(self) -> None:
        """Drop what is Dynamo's: through it the program's values would live on."""
        self._sources = self._sources_of_symbols()
        self.output = self._lines = None
        self._frames.clear()
        self._texts.clear()

    def trail_so_far(self) -> Trail:
        """Return the trail with what Dynamo has read by now; what is recorded stays as it is."""
        tape = self._writer().tape if self._frames else self.tape
        known = [(frame, frame.unread, frame.containers.copy()) for frame in self._frames]
        decided, tape.decided = tape.decided, deepcopy(tape.decided)
        try:
            for frame in self._frames:
                self._decide_read(frame)
            return self.finished_trail()
        finally:
            tape.decided = decided
            for frame, unread, containers in known:
                frame.unread, frame.containers = unread, containers

    def _decide_read(self, frame: RecordedFrame) -> None:
        """Add to the tape those values that Dynamo has read by now."""
        waiting = []
        for each in frame.unread:
            segment, name, variable, latest = each
            if is_pending(variable):
                waiting.append(each)
                continue
            fact = tensor_or_number(variable, {})  # sizes may yet become numbers: no text is kept
            if is_changed(variable):  # what it was at its own line is not known any more
                segment, latest = frame.segment, self._segment
            self._decide_value(frame, name, variable, fact[0] if fact is not None else None, segment, latest)
        frame.unread = waiting

    def _decide_changed(self, frame: RecordedFrame) -> None:
        """Add to the tape the containers that the line has changed in place."""
        for name, (variable, before) in list(frame.containers.items()):
            if self._local(frame.translator, name) is not variable:
                del frame.containers[name]
            elif extent(variable) != before:
                self._decide_value(frame, name, variable, None, frame.segment, self._segment)

    def _decide_value(
        self, frame: RecordedFrame, name: str, variable: Any, known: str | None, segment: Segment, latest: Segment
    ) -> None:
        """Add to the tape what a name is; `known`: the text of a tensor or a number."""
        if name[0] == "." or name.startswith("___"):
            return
        number, text = self.tape.texts.number, self._text(variable) if known is None else known
        self.tape.decided.add(latest, segment, number(name), number(text))
        size = extent(variable) if known is None else None
        if size is not None and self._local(frame.translator, name) is variable:
            frame.containers[name] = variable, size

    def _local(self, translator: Any, name: str) -> Any | None:
        """Return a local's variable, or the one in its cell; None where there is none."""
        variable = bound_names(translator).get(name)
        return SideEffects(self.output).cell_contents(variable) if is_cell(variable) else variable

    def _text(self, variable: Any) -> str:
        effects = SideEffects(self.output)  # Dynamo puts a copy in its place while it speculates
        with torch._C.DisableTorchFunction():
            return variable_text(ViewOptions(effects, decided_only=True), variable, 0)

    def _assigned(self, frame: RecordedFrame, names: tuple[str, ...]) -> None:
        for name in names:
            variable = self._local(frame.translator, name)
            if variable is None:
                continue
            if is_pending(variable):
                frame.pending.append((frame.line, name, variable))
                frame.unread.append((frame.segment, name, variable, self._segment))
            else:
                known = self._note(frame, frame.line, name, variable, "assigned")
                if frame.noted.get(name) is not variable:  # a `for` stores nothing when it ends
                    frame.noted[name] = variable
                    self._decide_value(frame, name, variable, known, frame.segment, self._segment)

    def _note(self, frame: RecordedFrame, line: int, name: str, variable: Any, role: TensorRole) -> str | None:
        """Record a tensor or a number, and return its text; None for any other value."""
        fact = tensor_or_number(variable, self._texts)
        if fact is None:
            return None
        text, node, origin = fact
        if not frame.code.has_file or name[0] == "." or name.startswith("___"):
            return text
        key = (frame.code.path, line, name, text, role)
        recorded = self.tensors.get(key)
        if recorded is None:
            self.tensors[key] = TracedTensor(
                path=frame.code.path, line=line, name=name, value=text, role=role, node=node, origin=origin
            )
        else:
            recorded.count += 1
        return text


def line_times(times: LineTimes) -> list[LineTime]:
    """Return the times as facts."""
    return [
        LineTime(path=path, line=line, seconds=seconds, visits=int(visits))
        for path, lines in times.items()
        if has_file(path)
        for line, (seconds, visits) in lines.items()
    ]
