"""Records what Dynamo decides: the same hook points as the debugger's, no adapter, no stops.

All work is done on the compiling thread, under Dynamo's own compile lock: `recorder` hears the events, `trace` keeps
what one attempt shows line by line, `compile_recording` what a compile adds up to, `ending` reads what is known when it
is over. A compile is written when it ends, as one transaction. `process` says when and where this process records.
"""
