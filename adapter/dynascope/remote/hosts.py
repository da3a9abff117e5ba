"""The machines on which programs listen, and the commands that read a file there and forward a port."""

from __future__ import annotations

import re
import shlex
import subprocess
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from dynascope.wire.listening import ListeningProgram, parsed

_READ = r"""
for folder in "$XDG_RUNTIME_DIR" "/run/user/$(id -u)" "${TMPDIR:-/tmp}/runtime-$(id -u)" "/tmp/runtime-$(id -u)" \
  "$HOME/Library/Caches/TemporaryItems"; do
  [ -O "$folder/dynascope" ] || continue
  for file in "$folder"/dynascope/listen-*.json; do
    [ -O "$file" ] && kill -0 "$(sed 's/.*"pid": *\([0-9]*\).*/\1/' "$file")" 2>/dev/null && cat "$file" && echo
  done
done
true
"""
"""Prints a line for each program that listens and lives, for a shell with `-O`: there may be no Python at hand.

The folders are those of `platformdirs.user_runtime_dir` on Linux and macOS. Another user may have made one in /tmp.
"""
_POD = re.compile(r"pod/(?P<name>[^-/:][^/:]*)(?::(?P<number>\d+))?")


class Unreachable(Exception):
    """A machine cannot be reached; the text is for the user."""


class Host(Protocol):
    """A machine that a command reaches."""

    @property
    def number(self) -> int | None:
        """Return the port or process id that the user has named."""

    @property
    def name(self) -> str:
        """Return how the user has named it, without the number."""

    def numbered(self, number: int) -> str:
        """Return the arguments of `dynascope attach` for a port or process id of it."""

    def shell(self) -> list[str]:
        """Return the command that runs there what it reads from its standard input."""

    def forward(self, local: int, program: ListeningProgram) -> list[str]:
        """Return the command that forwards a port of this machine until it is ended."""


@dataclass(frozen=True)
class SshHost:
    """A machine that `ssh` reaches, `[USER@]HOST` or a name of its configuration.

    What the configuration says of commands, and of connections that several commands share, is left out: a forward
    would outlive its command there.
    """

    destination: str
    port: int | None
    number: int | None

    @property
    def name(self) -> str:
        return f"ssh://{self.destination}{f':{self.port}' if self.port else ''}"

    def numbered(self, number: int) -> str:
        return f"{self.name}/{number}"

    def shell(self) -> list[str]:
        return [*self._ssh(), self.destination, "sh -s"]

    def forward(self, local: int, program: ListeningProgram) -> list[str]:
        own = ["-o", "ControlPath=none", "-o", "ExitOnForwardFailure=yes"]
        where = f"127.0.0.1:{local}:{program.address}"
        # not `-N`: `cat` ends with its standard input, which this process holds, however it ends
        return [*self._ssh(), *own, "-L", where, self.destination, "cat"]

    def _ssh(self) -> list[str]:
        return ["ssh", "-T", "-o", "RemoteCommand=none", *(("-p", str(self.port)) if self.port else ())]


@dataclass(frozen=True)
class Pod:
    """A pod that `kubectl` reaches."""

    pod: str
    namespace: str | None
    container: str | None
    number: int | None

    @property
    def name(self) -> str:
        return f"pod/{self.pod}"

    def numbered(self, number: int) -> str:
        options = [("-n", self.namespace), ("-c", self.container)]
        return shlex.join(
            [*(part for option, name in options if name for part in (option, name)), f"{self.name}:{number}"]
        )

    def shell(self) -> list[str]:
        container = ["-c", self.container] if self.container else []
        return [*self._kubectl("exec"), "-i", self.pod, *container, "--", "sh", "-s"]

    def forward(self, local: int, program: ListeningProgram) -> list[str]:
        return [*self._kubectl("port-forward"), self.name, f"{local}:{program.port}"]

    def _kubectl(self, verb: str) -> list[str]:
        return ["kubectl", verb, *(("-n", self.namespace) if self.namespace else ())]


def host_of(text: str, namespace: str | None, container: str | None) -> Host:
    """Return the machine that a user names, with the options for a pod.

    It is `ssh://[USER@]HOST[:PORT][/NUMBER]` or `pod/NAME[:NUMBER]`. Raises ValueError for another text.
    """
    if pod := _POD.fullmatch(text):
        number = pod["number"]
        return Pod(pod["name"], namespace, container, int(number) if number else None)
    parts = urlsplit(text)
    number = parts.path.strip("/")
    # a destination that begins with a hyphen would be an option of ssh
    if parts.scheme != "ssh" or not parts.hostname or parts.netloc.startswith("-") or not re.fullmatch(r"\d*", number):
        raise ValueError(f"{text!r} is neither ssh://[USER@]HOST[:PORT][/PORT_OR_PID] nor pod/NAME[:PORT_OR_PID]")
    if namespace or container:
        raise ValueError("--namespace and --container are for pod/NAME")
    user, at, name = parts.netloc.rpartition("@")  # not `hostname`, which is in lower case: ssh tells names apart
    name = name[1:].partition("]")[0] if name.startswith("[") else name.partition(":")[0]
    return SshHost(f"{user}{at}{name}", parts.port, int(number) if number else None)


def listening_on(host: Host) -> list[ListeningProgram]:
    """Return the programs of this user that listen on a machine. Raises Unreachable."""
    command = host.shell()
    try:
        # its messages, and questions for a password, are for the user
        ran = subprocess.run(command, input=_READ.encode(), stdout=subprocess.PIPE)
    except FileNotFoundError:
        raise Unreachable(f"{command[0]} is not installed here, or not on PATH.") from None
    if ran.returncode:
        raise Unreachable(f"{host.name} cannot be reached: {command[0]} ended with status {ran.returncode}.")
    found = parsed(ran.stdout.splitlines())
    return [each for number, each in enumerate(found) if each not in found[:number]]  # two folders may be the same
