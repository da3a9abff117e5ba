"""A terminal with a program in it, as a person has one: keys go in, a screen's text comes out."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence

PATIENCE = 90
_CONTROL = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|[()][0-9A-B]|[=>78])")


class Terminal:
    """Runs `command` on a pseudo-terminal of its own. `close` it in the end."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], cwd: os.PathLike[str]) -> None:
        self._master, slave = pty.openpty()

        def log_in() -> None:
            os.login_tty(slave)
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # what runs in the background hands on that it ignores Ctrl-C

        self.process = subprocess.Popen(
            command,
            cwd=cwd,
            env={**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", **environment},
            preexec_fn=log_in,
        )
        os.close(slave)
        self._text = ""

    def close(self) -> None:
        """End the command, if it still runs, as a closed window does: the terminal is gone, and sends SIGHUP."""
        os.close(self._master)
        self.process.wait(PATIENCE)

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def expect(self, text: str, patience: float = PATIENCE) -> str:
        """Wait for `text`; everything up to it, without control sequences. What follows is kept for the next call."""
        end = time.monotonic() + patience
        while text not in (shown := _CONTROL.sub("", self._text)):
            ready, _, _ = select.select([self._master], [], [], max(0, end - time.monotonic()))
            try:
                read = os.read(self._master, 65536) if ready else b""
            except OSError:
                read = b""  # Linux: the program has left its terminal
            if not read:
                raise AssertionError(f"waited for {text!r}; the terminal shows:\n{shown}")
            self._text += read.decode(errors="replace")
        before, _, self._text = shown.partition(text)
        return before + text

    def reading_keys(self) -> bool:
        """Whether a prompt reads single keys now, Ctrl-C included, rather than leaving them to the terminal."""
        local_modes = termios.tcgetattr(self._master)[3]
        return not local_modes & termios.ISIG

    def leave_keys_to_the_terminal(self) -> None:
        """Returns when no prompt reads single keys: it may print what comes before it has put the terminal back."""
        end = time.monotonic() + PATIENCE
        while self.reading_keys() and time.monotonic() < end:
            if select.select([self._master], [], [], 0.05)[0]:
                self._text += os.read(self._master, 65536).decode(errors="replace")
        assert not self.reading_keys()

    def wait(self) -> int:
        """The exit code, once the program has ended by itself."""
        end = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < end:
            # A full terminal would keep the program from ending.
            if select.select([self._master], [], [], 0.05)[0]:
                try:
                    self._text += os.read(self._master, 65536).decode(errors="replace")
                except OSError:
                    pass
        return self.process.wait(1)
