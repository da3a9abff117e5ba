"""The Debug Adapter: a DAP server in front of debugpy that adds the compile time of torch.compile to one call stack.

Read `session` first: it says which task does what. `serving` runs the tasks; `client` is who is served; `program` is
one life of the debugged program, `runtime_half` with debugpy, `alone` without; `agent_link` speaks with the agent
inside it; `merge` and `breakpoints` make one view of the two halves; `requests/` has a handler per DAP request.
"""
