"""Declare features: `@feature(types.TEXT_DOCUMENT_HOVER)` decorates a function of the session and the parameters.

`initialize` answers the capabilities that pygls derives from the registered features, so exactly what is served is
advertised. An internal error is logged and answered with null: an editor must not be worse off with the server.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from inspect import iscoroutinefunction
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from dynascope_lsp.session import LspSession

log = logging.getLogger(__name__)

Function = TypeVar("Function", bound=Callable[..., Any])


class Feature(Struct, frozen=True):
    """One served method with its options, or one command."""

    name: str
    function: Callable[[LspSession, Any], Any]
    options: Any = None


FEATURES: dict[str, Feature] = {}
COMMANDS: dict[str, Feature] = {}


def feature(method: str, options: Any = None) -> Callable[[Function], Function]:
    """Serve an LSP request or notification."""

    def declare(function: Function) -> Function:
        FEATURES[method] = Feature(method, function, options)
        return function

    return declare


def command(name: str) -> Callable[[Function], Function]:
    """Serve `workspace/executeCommand` of this name; the function gets a list of arguments."""

    def declare(function: Function) -> Function:
        COMMANDS[name] = Feature(name, function)
        return function

    return declare


def install(server: LanguageServer, session: LspSession) -> None:
    """Register all declared features with the server."""
    for each in FEATURES.values():
        serve = _contained_async if iscoroutinefunction(each.function) else _contained
        server.feature(each.name, each.options)(serve(session, each))
    for each in COMMANDS.values():
        server.command(each.name)(_command(session, each))


def _contained(session: LspSession, served: Feature) -> Callable[[Any], Any]:
    def handler(params: Any) -> Any:
        with _errors(session, served), session.stores.unchanging():
            return served.function(session, params)
        return None

    return handler


def _contained_async(session: LspSession, served: Feature) -> Callable[[Any], Awaitable[Any]]:
    async def handler(params: Any) -> Any:
        with _errors(session, served):
            return await served.function(session, params)
        return None

    return handler


@contextmanager
def _errors(session: LspSession, served: Feature) -> Iterator[None]:
    """Answer bad parameters of our own requests with an error, and go on after any other."""
    try:
        yield
    except JsonRpcException as error:
        log.warning("%s: the client refused what it was asked: %s", served.name, error)
    except msgspec.DecodeError as error:
        raise JsonRpcInvalidParams(f"{served.name}: {error}") from None
    except (sqlite3.Error, UnicodeDecodeError) as error:  # SQLite's words on what is damaged may be no text
        session.facts_failed(error)
    except Exception:
        if not session.stores.damaged():  # what is read of a damaged store may be anything
            log.exception("%s failed", served.name)


def _command(session: LspSession, served: Feature) -> Callable[..., Any]:
    """Wrap a command's function: pygls passes the arguments separately."""
    if iscoroutinefunction(served.function):
        contained = _contained_async(session, served)

        async def serve_async(*arguments: Any) -> Any:
            return await contained(list(arguments))

        return serve_async
    return lambda *arguments: _contained(session, served)(list(arguments))
