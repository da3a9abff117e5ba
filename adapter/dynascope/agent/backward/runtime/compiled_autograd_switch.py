"""The setting `compiledAutograd`: enables compiled autograd for the whole program."""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from dynascope.agent.program.import_hooks import when_imported
from dynascope.agent.program.threads import hide_thread
from dynascope.wire.from_agent import ConsoleOutput
from dynascope.wire.messages import Message

if TYPE_CHECKING:
    from dynascope.agent.events.autograd.compiler_switch import Switch


class CompiledAutograd:
    """Enable compiled autograd from the program's import of torch until the session ends."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        """Report with `send` why it cannot be enabled."""
        self._send = send
        self._not_yet_imported: Callable[[], None] = lambda: None
        self._lock = threading.Lock()
        self._switch: Switch | None = None
        self._wanted = False

    def begin(self, backend: str) -> None:
        """Compile captured backwards with `backend`, a name that `torch.compile` knows."""
        self._wanted = True
        if "torch" in sys.modules:  # the channel's thread must not wait for Dynamo's import
            thread = threading.Thread(target=self._import_dynamo, args=(backend,), name="dynascope import", daemon=True)
            hide_thread(thread)
            thread.start()
        else:
            self._not_yet_imported = when_imported("torch", lambda: self._import_dynamo(backend))

    def end(self) -> None:
        """Restore the previous state. Any thread."""
        self._not_yet_imported()
        with self._lock:
            self._wanted = False
            switch, self._switch = self._switch, None
        if switch is not None:
            switch.undo()

    def _import_dynamo(self, backend: str) -> None:
        import torch

        from dynascope.agent.events.autograd import compiler_switch

        # imports Dynamo, which the program may never do, because the user requested it
        backends = torch.compiler.list_backends(exclude_tags=())
        if backend not in backends:
            text = (
                f"Compiled autograd stays off: torch knows no backend {backend!r} for `compiledAutograd`. "
                f"It knows {', '.join(sorted(backends))}.\n"
            )
            self._send(ConsoleOutput(category="important", output=text))
            return

        with self._lock:
            if self._wanted and not compiler_switch.forces_eager():
                compiler_switch.prepare_cuda()
                self._switch = compiler_switch.Switch(functools.partial(torch.compile, backend=backend))
                self._switch.apply()
