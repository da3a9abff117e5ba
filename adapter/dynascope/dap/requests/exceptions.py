"""Serve `setExceptionBreakpoints` and `exceptionInfo`: debugpy's exceptions, and the agent's filters."""

from __future__ import annotations

from dynascope.dap.breakpoints.exception_filters import ALL_FILTERS, place_exceptions
from dynascope.dap.protocol.arguments import SetExceptionBreakpointsArguments, ThreadArguments
from dynascope.dap.protocol.call import Body, Call
from dynascope.dap.protocol.errors import RequestError
from dynascope.dap.requests.execution import check_stopped
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.session import Session


@request("setExceptionBreakpoints", SetExceptionBreakpointsArguments, ordered=True)
@capability("supportsExceptionOptions")
@capability("supportsExceptionFilterOptions")
@capability("exceptionBreakpointFilters", ALL_FILTERS)
async def set_exception_breakpoints(session: Session, call: Call[SetExceptionBreakpointsArguments]) -> Body:
    """Return a breakpoint per element of `filters`, `filterOptions` and `exceptionOptions`."""
    session.client.exception_filters = call.arguments
    return {"breakpoints": await place_exceptions(session.running(), call.arguments)}


@request("exceptionInfo", ThreadArguments)
@capability("supportsExceptionInfoRequest")
async def exception_info(session: Session, call: Call[ThreadArguments]) -> Body:
    """Return Dynamo's explanation at a stop of the agent's filters, else let debugpy answer."""
    program = session.running()
    stop = program.stops.of_thread(call.arguments.thread_id)
    if stop is None:
        if program.debugpy is not None:
            # debugpy answers nothing, also of what is asked after it, before the thread stops
            await check_stopped(program, call.arguments.thread_id, "show an exception")
        return session.pass_to_debugpy(call)
    if stop.notice.exception is None:
        raise RequestError("No exception at this stop: the thread is stopped at compile time, for another reason.")
    return stop.notice.exception
