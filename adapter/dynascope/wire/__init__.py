"""What the agent (in the debugged program) and the adapter say to each other.

Imports nothing of ours and never torch: both wings stand on it. `messages` are the msgspec structs, `dap` the pieces of
the Debug Adapter Protocol that cross the wire unchanged, `channel` what carries them.
"""
