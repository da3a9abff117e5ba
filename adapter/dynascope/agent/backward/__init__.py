"""The backward: what compiled autograd captures, why, and what each run of it did. Observed, never changed.

`captures` keeps what is known of every captured backward graph; `runtime` is behind `dynascope.compiled_autograd` and
works with and without a debugger; the other files are the debugger's half: stops between the nodes the engine calls.
"""
