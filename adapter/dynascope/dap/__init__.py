"""The Debug Adapter: a DAP server in front of debugpy that adds the compile time of torch.compile to one call stack.

Read `session` first: it says which task does what. `serving` runs the tasks. `client/` is who is served; `program/` is
one life of the debugged program, with debugpy or without; `agent_channel/` speaks with the agent in it;
`breakpoints/` places breakpoints in both halves; `requests/` has a handler for each DAP request.
"""
