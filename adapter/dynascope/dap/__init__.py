"""The debug adapter: a DAP server in front of debugpy that adds the compile time of torch.compile to one call stack.

Read `session` first: it says which task does what. `serving` runs the tasks. `client/` is the client's side; `program/`
is one run of the debugged program, with debugpy or without; `agent_channel/` exchanges messages with the agent in it;
`breakpoints/` sets breakpoints in debugpy and the agent; `requests/` has a handler for each DAP request.
"""
