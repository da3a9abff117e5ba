"""`dynascope debug`: the debugger at a prompt. A DAP client of `dynascope dap`, nothing more.

Which thread does what
----------------------
* The *main thread* reads commands, sends requests and waits for their responses; Ctrl-C reaches it
  and asks for a pause.
* The *reader thread* (one per adapter, in `client`) reads responses and events. It passes the program's
  output through, keeps `debuggee`'s picture of what is stopped, and never waits for anything but the adapter.
"""
