"""Debug one rank of a job that torchrun starts; torchrun has a session of its own, which never stops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, ClassVar

import msgspec

from dynascope.terminal.breakpoints import Breakpoints, Catching
from dynascope.terminal.client import RequestRefused
from dynascope.terminal.debuggee import WHO_WE_ARE, Debuggee
from dynascope.terminal.program import DebuggedProgram
from dynascope.wire.dap import Output, StartDebugging


class Rank(Debuggee):
    """The rank that a prompt debugs, in a session of its own, which ends when the rank does."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._job = _Job(self._program, self._on_output, self._share_stdin)

    def _begin(self) -> Future[msgspec.Raw]:
        self._job.start(Catching())
        text = f"rank {self._program.rank} is debugged, the others run undebugged (`--rank N` debugs another)\n"
        self._on_output(Output(output=text))
        return self._client.send("attach", self._job.configuration_of_rank())

    def close(self) -> None:
        """End the session of the rank, and its job; a job whose rank has ended runs to its end."""
        try:
            if self.ended and self._job.has_begun_rank:
                self._job.wait()
            super().close()
        finally:
            self._job.close()
        self.exit_code = self._job.exit_code


class _Job(Debuggee):
    """The process of torchrun; of the sessions for its children it lets only that of the rank begin."""

    capabilities_of_client: ClassVar[Mapping[str, Any]] = {**WHO_WE_ARE, "supportsStartDebuggingRequest": True}

    def __init__(self, program: DebuggedProgram, on_output: Callable[[Output], None], share_stdin: bool) -> None:
        super().__init__(program, Breakpoints(), on_output, lambda breakpoint: None, share_stdin)
        self._configuration: dict[str, Any] | None = None

    @property
    def has_begun_rank(self) -> bool:
        return self._configuration is not None

    def set_exception_filters(self, catching: Catching) -> dict[str, str]:
        """Set none: torchrun itself never stops."""
        return {}

    def configuration_of_rank(self) -> dict[str, Any]:
        """Return the `attach` configuration of the rank, once it has started. Raises RequestRefused."""
        with self.changed:
            self.changed.wait_for(lambda: self._configuration is not None or self.ended)
            if self._configuration is None:
                raise RequestRefused(f"torchrun ended without a rank {self._program.rank}")
            return self._configuration

    def _reverse_request(self, command: str, arguments: msgspec.Raw) -> dict[str, Any]:
        if command != "startDebugging":
            return super()._reverse_request(command, arguments)
        configuration = msgspec.json.decode(arguments, type=StartDebugging).configuration
        is_rank = str(configuration.get("name")).startswith(f"Rank {self._program.rank} (")
        with self.changed:
            if not is_rank or self._configuration is not None:
                raise RequestRefused(f"this prompt debugs only rank {self._program.rank}, until it ends")
            self._configuration = configuration
            self.changed.notify_all()
        return {}
