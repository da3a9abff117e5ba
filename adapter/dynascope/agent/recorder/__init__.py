"""Record Dynamo's decisions, at the debugger's hook points but without adapter and stops.

All work is done on the compiling thread, under Dynamo's own compile lock: `recorder` receives the events, `trace`
records one attempt line by line, `compile_recording` collects the facts of a compile.
A compile is written when it ends, as one transaction. `process` decides when and where this process records.
"""
