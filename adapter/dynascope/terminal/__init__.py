"""`dynascope debug`: the debugger at a prompt, which is a DAP client of `dynascope dap`.

Which thread does what
----------------------
* The *main thread* reads commands, sends requests and waits for their responses; Ctrl-C reaches it
  and requests a pause.
* The *reader thread* (one per adapter, in `client`) reads responses and events. It prints the program's
  output, updates the stopped threads in `debuggee`, and waits only for the adapter.
"""
