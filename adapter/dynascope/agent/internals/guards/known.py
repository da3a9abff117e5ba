"""Read from a call for which Dynamo compiles again what advice on that recompile needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dynascope.agent.internals.compile.call import keyed_met
from dynascope.agent.internals.compile.compile_context import dynamic_shapes
from dynascope.agent.internals.frames.resume import is_resume_function
from dynascope.agent.internals.guards.changed import Changed, changed_together
from dynascope.facts.recompiles.guarded_value import GuardedValue
from dynascope.facts.recompiles.known import Known


def known_before_trace(subject: GuardedValue, changed: Sequence[Changed], frame: Any) -> Known:
    """Return what is known of a recompile before its trace.

    `changed`: the sizes and numbers that differ; `frame`: Dynamo's view of the frame (`DynamoFrameType`, 2.1).
    """
    return Known(
        together=[each.subject.text for each in changed_together(changed, subject)],
        dynamic=dynamic_shapes(),
        is_rest=is_resume_function(frame.f_code),
        keyed=keyed_met(subject, frame),
    )
