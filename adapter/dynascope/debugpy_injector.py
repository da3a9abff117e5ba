"""Run debugpy's injector, which starts debugpy in a running process, so that a late injection leaves nothing there.

debugpy's adapter starts it for `attach` with a process id; gdb then stops the program and calls Python in it. Without
the list below gdb first reads the symbols of every library, those of torch among them: 5 to 45 s, in which the client
may have given up. The program therefore connects first, and goes on only when the adapter still listens.

This is a script, `python debugpy_injector.py DEBUGPY --connect … --pid PID`, that needs only the standard library. The
package gdb-for-pwndbg, which `dynascope[attach]` requires, has a gdb that knows the registers of new processors; it is
used where it is installed.
"""

from __future__ import annotations

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # this folder, so that its modules do not shadow others

import contextlib
import functools
import importlib
import importlib.util
import inspect
import os
import shlex
import shutil
import subprocess
import sysconfig
import traceback
import types
from collections.abc import Callable
from typing import Any

_PATH = [*sys.path]
_LIBRARIES_VARIABLE = "PYDEVD_GDB_SCAN_SHARED_LIBRARIES"
"""With it users choose the libraries of which gdb reads the symbols."""
_FEW_LIBRARIES = "--init-eval-command='set auto-solib-add off' --eval-command='sharedlibrary lib(c|dl)[.-]'"
"""Those that can have `dlopen`, the one function of a library that gdb calls."""
_IGNORE_SIGNALS = "--eval-command='handle all nostop noprint pass'"
"""gdb gives up its call when the program gets a signal, be it one that Python ignores; then the program crashes."""


def has_package() -> bool:
    """Whether the gdb of the package gdb-for-pwndbg can be used."""
    # it is linked against Python's library
    has_library = ".so" in str(sysconfig.get_config_var("INSTSONAME"))
    return has_library and importlib.util.find_spec("gdb_for_pwndbg") is not None


def gdb_command() -> list[str]:
    """Return the command that starts gdb, the package's where it is installed; [] without."""
    if has_package():
        return [sys.executable, "-P", "-m", "gdb_for_pwndbg.gdb"]
    found = shutil.which("gdb")
    return [found] if found is not None else []


def attach_if_waited_for(address: tuple[str, int], folder: str, code: str) -> None:
    """Run `code`, debugpy's, in the program, unless the adapter has given up.

    This is sent to the program as source.
    """
    import functools
    import importlib
    import os
    import socket
    import sys

    if "threading" not in sys.modules:  # no torch either; `code` repairs what threading takes for the main thread
        exec(code, {})
        return
    import threading

    api: Any
    log: Any
    try:
        connection = socket.create_connection(address, 10)
    except OSError:
        return
    connection.settimeout(None)
    warned = "PYDEVD_DISABLE_FILE_VALIDATION"  # else debugpy warns on stderr that it cannot stop in frozen modules
    is_set = warned in os.environ
    os.environ.setdefault(warned, "1")
    sys.path.insert(0, folder)
    try:
        api = importlib.import_module("debugpy.server.api")
    finally:
        sys.path.remove(folder)
        if not is_set:
            del os.environ[warned]
    start, names, log = api._settrace, vars(sys.modules["pydevd"]), sys.modules["debugpy.common.log"]
    connect, describe = names["start_client"], log.describe_environment
    names["start_client"] = lambda host, port: connection
    # else the program would wait here until it is configured: for ever, if the adapter has ended
    api._settrace = functools.partial(start, wait_for_ready_to_run=False)
    # which reads the metadata of every installed package, in the program
    log.describe_environment = lambda header: describe(header) if log.log_dir is not None else None
    try:
        exec(code, {})
    finally:
        api._settrace, names["start_client"], log.describe_environment = start, connect, describe
    try:
        has_ended = not connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        has_ended = False
    except OSError:
        has_ended = True
    if has_ended:  # debugpy has noticed, maybe before it started all that it starts, and stops only what it had by then
        names["stoptrace"]()
        for thread in [*vars(threading)["_active"].values()]:  # debugpy hides its own from enumerate()
            getattr(thread, "do_kill_pydev_thread", lambda: None)()


def use() -> None:
    """Make debugpy's adapter run this script as its injector.

    It replaces `subprocess` in debugpy.adapter.servers (debugpy 1.8.17).
    """
    if sys.platform != "linux":
        return
    import debugpy
    from debugpy.adapter import servers

    script = os.path.dirname(debugpy.__file__)

    def start(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        if command[1] == script:
            command = [command[0], __file__, *command[1:]]
        return subprocess.Popen(command, **options)

    servers.subprocess = types.SimpleNamespace(Popen=start, PIPE=subprocess.PIPE, STDOUT=subprocess.STDOUT)


class _Deferred(types.ModuleType):
    """A module that is imported when anything of it is used that is not set here."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        for each in [each for each, module in sys.modules.items() if isinstance(module, _Deferred)]:
            del sys.modules[each]
        return getattr(importlib.import_module(self.__name__), name)


def _without_pydevd(folder: str) -> None:
    """Put modules without content in the place of pydevd's.

    `debugpy.server.cli` imports it (debugpy 1.8.20), which takes most of the time here. It only asks where pydevd is.
    """
    if "--log-to" in sys.argv or "DEBUGPY_LOG_DIR" in os.environ:
        return
    known: dict[str, dict[str, Any]] = {
        "debugpy._vendored.force_pydevd": {},
        "debugpy.server.api": {"ensure_logging": lambda: None},
        "pydevd": {"__file__": os.path.join(folder, "pydevd.py")},
        "_pydevd_bundle": {"pydevd_runpy": None},  # which runs programs
    }
    for name, attributes in known.items():
        sys.modules[name] = _Deferred(name)
        vars(sys.modules[name]).update(attributes)


def main() -> None:
    """Inject debugpy with its own command line."""
    script = sys.argv.pop(1)
    folder, vendored = os.path.dirname(script), os.path.join(script, "_vendored", "pydevd")
    _without_pydevd(vendored)
    sys.path.insert(0, folder)
    from debugpy.server import cli

    del sys.path[0]
    sys.path.append(os.path.join(vendored, "pydevd_attach_to_process"))
    import add_code_to_python_process as attaching  # type: ignore[import-not-found]

    attaching.subprocess = types.SimpleNamespace(check_call=lambda command, shell, env: _run_gdb(command, env))
    attaching.run_python_code = _injection(attaching.run_python_code, cli.options, folder)
    cli.main()


def _injection(run: Callable[..., None], options: Any, folder: str) -> Callable[..., None]:
    def inject(pid: int, code: str, **more: Any) -> None:
        call = f"attach_if_waited_for({options.address!r}, {folder!r}, {code!r})"
        source = f"{inspect.getsource(attach_if_waited_for)}\n{call}"
        # no quotes, for gdb's command line; and a namespace of its own: else debugpy assigns to names of the program's
        run(pid, f"exec(bytes({list(source.encode())}),{{}})", **more)

    return inject


def _run_gdb(command: str, env: dict[str, str]) -> None:
    """Run gdb with the symbols of few libraries, or of all when those do not suffice."""
    few = "" if _LIBRARIES_VARIABLE in env or not command.startswith("gdb ") else _FEW_LIBRARIES
    for libraries in dict.fromkeys((few, "")):
        code, output = _run(
            command.replace(" --batch ", f" --batch --readnever {_IGNORE_SIGNALS} {libraries} ", 1), env
        )
        if b'No symbol "' not in output:
            break
    with contextlib.suppress(OSError):  # the adapter has ended
        os.write(1, output)
    if code:
        raise subprocess.CalledProcessError(code, "gdb")


def _run(command: str, env: dict[str, str]) -> tuple[int, bytes]:
    """Run a command; its streams do not end with those of this process.

    When the adapter has ended, gdb would end, too, in the middle of its call into the program, which would then crash.
    """
    arguments = shlex.split(command)
    become = functools.partial(_become_gdb, arguments, env) if arguments[0] == "gdb" and has_package() else None
    reading, writing = os.pipe()
    try:
        process = subprocess.Popen(
            arguments,
            env=env,
            preexec_fn=become,
            stdin=reading,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        output, _ = process.communicate()
    except OSError as error:  # there is no such program
        return 127, f"{error}\n".encode()
    finally:
        os.close(reading)
        os.close(writing)
    return process.returncode, output


def _become_gdb(arguments: list[str], env: dict[str, str]) -> None:
    """Replace this process with the package's gdb.

    `python -m gdb_for_pwndbg.gdb` does the same, and starts Python for it.
    """
    try:
        from gdb_for_pwndbg import gdb  # type: ignore[import-untyped]

        os.environ.clear()
        os.environ.update(env)
        sys.argv, sys.path[:] = arguments, _PATH
        gdb.main()
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


if __name__ == "__main__":
    main()
