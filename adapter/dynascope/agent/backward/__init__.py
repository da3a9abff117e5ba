"""The backward: what compiled autograd captures and why, and reports of each run.

`captures` has the facts of every captured backward graph; `runtime` implements `dynascope.compiled_autograd` and works
with and without a debugger; the other files make the debugger stop between the nodes that the engine calls.
"""
