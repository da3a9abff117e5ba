"""Serve `cancel`, which ends a request early."""

from __future__ import annotations

from dynascope.dap.protocol.arguments import CancelArguments
from dynascope.dap.protocol.call import Body, Call
from dynascope.dap.protocol.errors import RequestError
from dynascope.dap.requests.registry import capability, request
from dynascope.dap.session import Session


@request("cancel", CancelArguments, phase="connected")
@capability("supportsCancelRequest")
async def cancel(session: Session, call: Call[CancelArguments]) -> Body:
    """Answer the request with the error `cancelled`; at a compile-time stop its work ends too."""
    seqs = [call.arguments.request_id] if call.arguments.request_id is not None else []
    if call.arguments.progress_id is not None:
        of_progress = session.progress.request_of(call.arguments.progress_id)
        if of_progress is None:
            raise RequestError("This cannot be cancelled: a compile ends by itself. Pause it to see where it is.")
        seqs.append(of_progress)
    for seq in seqs:
        task = session.cancellable.get(seq)
        if task is None:
            raise RequestError(
                f"Request {seq} is not being served any more, or it is one that cannot be cancelled "
                "(debugpy's, and those that change something)."
            )
        task.cancel()
    return None
