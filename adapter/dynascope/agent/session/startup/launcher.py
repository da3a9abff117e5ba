"""Run a program with the agent: `python -m dynascope.agent.session.startup.launcher FILE …`.

For sessions without debugpy (`runtime: false`). The environment has the adapter's address and the session's token,
which are removed from it. The program starts at `ConfigurationDone`, and is killed if the connection is lost.
"""

from __future__ import annotations

import os
import sys

from dynascope.agent.session.startup import bootstrap, runpy
from dynascope.agent.session.startup.process_tree import end_with_children
from dynascope.wire import channel

_USAGE = "usage: python -m dynascope.agent.session.startup.launcher (FILE | -m MODULE | -c CODE) [ARGUMENT ...]"


def main() -> runpy.Start:
    """Connect and wait for the configuration; return the function that runs the program."""
    arguments = sys.argv[1:]
    if not arguments or (arguments[0] in ("-m", "-c") and len(arguments) < 2):
        sys.exit(_USAGE)
    address, token = os.environ.pop(channel.ADDRESS_VARIABLE, None), os.environ.pop(channel.TOKEN_VARIABLE, None)
    if not address or not token:
        sys.exit(
            f"dynascope: the adapter starts this; {channel.ADDRESS_VARIABLE} and {channel.TOKEN_VARIABLE} are not set."
        )
    try:
        connection = channel.connect(address)
        connection.sendall(token.encode() + b"\n")
    except (OSError, ValueError) as error:
        sys.exit(f"dynascope: the adapter at {address} does not answer: {error}")
    session = bootstrap.serve(connection, on_lost=end_with_children, runtime=False)
    session.configured.wait()
    return runpy.prepare(arguments)


if __name__ == "__main__":
    runpy.run(main())
