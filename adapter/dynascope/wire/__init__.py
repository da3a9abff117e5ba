"""The messages between the agent (in the debugged program) and the adapter.

The package imports no other part of Dynascope and never torch. `messages` holds the msgspec base structs, `dap` the
Debug Adapter Protocol types that are passed on unchanged, `channel` the socket that carries the messages.
"""
