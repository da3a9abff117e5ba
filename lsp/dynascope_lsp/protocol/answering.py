"""Answer every request of a client, in whatever state the server is, and whatever its parameters are.

pygls answers neither a request with bad parameters nor one before `initialize` or after `shutdown`, and writes a
traceback to the log, or tells the user, where a client has made a mistake.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from concurrent.futures import Future
from inspect import isawaitable
from typing import Any

from cattrs import transform_error
from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    JsonRpcRequestCancelled,
    JsonRpcServerNotInitialized,
)
from pygls.protocol import LanguageServerProtocol, lsp_method
from pygls.protocol.json_rpc import JsonRPCNotification, JsonRPCRequestMessage, JsonRPCResponseMessage

from dynascope_lsp.protocol.decoding import Malformed
from dynascope_lsp.protocol.documents import OpenDocuments

log = logging.getLogger(__name__)

Message = dict[str, Any]
MOST_PROBLEMS = 3
"""The most problems of parameters that an error names."""


class Protocol(LanguageServerProtocol):
    """Take messages as they are decoded: `accept`, or `refuse` for one that is not handled any more."""

    _is_initialized = False

    def accept(self, message: Message) -> None:
        """Handle a message; answer it at once if it cannot be handled."""
        try:
            self.handle_message(self._structured(message))
        except JsonRpcException as error:
            self.refuse(message, error)
        except Exception as error:  # whatever pygls does not expect: the server goes on
            self.refuse(message, JsonRpcInvalidParams(f"{type(error).__name__}: {error}"))

    def refuse(self, message: Message, error: JsonRpcException) -> None:
        """Answer a request with an error; log a notification, or an answer, that is ignored."""
        if "method" in message and "id" in message:
            self._send_response(message["id"], error=error.to_response_error())
        else:
            log.warning("%s was ignored: %s", message.get("method") or "An answer", error.message)

    def malformed(self, problem: Malformed) -> None:
        """Answer what is not a message."""
        error = {"code": problem.error.code, "message": problem.error.message}
        self._send_data({"jsonrpc": self.VERSION, "id": problem.id, "error": error})

    def _structured(self, message: Message) -> Any:
        method = message.get("method")
        if method is None:
            return self._response(message)
        is_request = "id" in message
        if is_request:
            self._check_state(method)
        elif not (self._is_initialized or method == types.EXIT):
            raise JsonRpcServerNotInitialized("The first message is `initialize`")
        if method not in self.fm.builtin_features and method not in self.fm.features and is_request:
            raise JsonRpcMethodNotFound.of(method)
        kind = self.get_message_type(method)
        if kind is None or ("id" in kind.__annotations__) != is_request:
            if kind is not None:
                raise JsonRpcInvalidRequest(f"{method} is {'a notification' if is_request else 'a request'}")
            sent = {"method": method, "jsonrpc": self.VERSION, "params": message.get("params")}
            return JsonRPCRequestMessage(id=message["id"], **sent) if is_request else JsonRPCNotification(**sent)
        try:
            return self._converter.structure(message, kind)
        except Exception as error:
            raise JsonRpcInvalidParams(f"{method}: {_problems(error)}") from None

    def _check_state(self, method: str) -> None:
        if self._shutdown:
            raise JsonRpcInvalidRequest("The server has been shut down")
        if method == types.INITIALIZE:
            if self._is_initialized:
                raise JsonRpcInvalidRequest("The server has been initialized already")
        elif not self._is_initialized:
            raise JsonRpcServerNotInitialized("The first message is `initialize`")

    def _response(self, message: Message) -> Any:
        """Structure a client's answer; one that is not of its request's type is an error."""
        number = message["id"]
        kind = self._result_types.pop(number, None) or JsonRPCResponseMessage
        try:
            return self._converter.structure(message, types.ResponseErrorMessage if "error" in message else kind)
        except Exception as error:
            future = self._request_futures.pop(number, None)
            if future is not None and not future.done():
                future.set_exception(JsonRpcInvalidParams("The client's answer is not one to this request"))
            raise JsonRpcInvalidRequest(f"It cannot be read: {_problems(error)}") from None

    def _send_handler_result(self, future: Future[Any], *, msg_id: int | str) -> None:
        self._request_futures.pop(msg_id, None)
        error = JsonRpcRequestCancelled("The request was cancelled") if future.cancelled() else future.exception()
        if error is None:
            self._send_response(msg_id, result=future.result())
        else:
            self._send_response(msg_id, error=_error_of(error).to_response_error())

    def _check_handler_result(self, future: Future[Any]) -> None:
        if not future.cancelled() and (error := future.exception()) is not None:
            log.warning("A notification was ignored: %s: %s", type(error).__name__, error)

    def _handle_cancel_notification(self, msg_id: Any) -> None:
        """Cancel a request that goes on; most have been answered, which needs no warning."""
        future = self._request_futures.get(msg_id) if isinstance(msg_id, int | str) else None
        if future is not None:
            future.cancel()

    @lsp_method(types.INITIALIZE)
    def lsp_initialize(self, params: types.InitializeParams) -> Generator[Any, Any, types.InitializeResult]:
        self._is_initialized = True
        answering = super().lsp_initialize(params)
        call = next(answering)  # `features.lifecycle` serves it
        self._workspace = OpenDocuments.of(self.workspace)
        answer = yield call
        while True:
            try:
                answer = yield answering.send(answer)
            except StopIteration as end:
                result: types.InitializeResult = end.value
                return result

    @lsp_method(types.SHUTDOWN)
    def lsp_shutdown(self, *arguments: Any) -> None:  # type: ignore[override]
        """Cancel, and so answer, what goes on; pygls changes the dict that it iterates over."""
        for number, future in list(self._request_futures.items()):
            if number != self.msg_id:
                future.cancel()
        self._shutdown = True

    @lsp_method(types.WORKSPACE_EXECUTE_COMMAND)
    async def lsp_workspace__execute_command(  # type: ignore[override]
        self, params: types.ExecuteCommandParams
    ) -> Any:
        """Execute a command in the task that is cancelled with the request."""
        serve = self.fm.commands.get(params.command)
        if serve is None:
            raise JsonRpcInvalidParams(f"There is no command {params.command!r}")
        result = serve(*(params.arguments or ()))
        return await result if isawaitable(result) else result


def _error_of(error: BaseException) -> JsonRpcException:
    """Return the error that answers what a handler has raised."""
    if isinstance(error, JsonRpcException):
        return error
    log.error("A request failed", exc_info=error)
    return JsonRpcInternalError(f"{type(error).__name__}: {error}")


def _problems(error: Exception) -> str:
    """Say what is wrong with parameters, and where."""
    try:
        found = transform_error(error) if isinstance(error, ExceptionGroup) else [str(error) or type(error).__name__]
    except Exception:  # cattrs has no words for each error
        found = [type(error).__name__]
    more = len(found) - MOST_PROBLEMS
    return "; ".join(found[:MOST_PROBLEMS]) + (f"; and {more} more" if more > 0 else "")
