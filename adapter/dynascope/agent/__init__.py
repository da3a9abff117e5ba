"""Code that runs in the debugged program. Imports only torch that torch._dynamo has loaded.

Which thread does what, and which waits for which
-------------------------------------------------
* The *compiling thread* (any thread of the program on which Dynamo traces) runs the hooks: `hook` → `breakpoints` and
  `stepping` decide → `stop` tells the adapter, waits for its acknowledgement, then waits in `suspension`. All requests
  for a stop (`inspection`, `evaluation`) are served on this thread while it waits. Only this thread ever blocks.
* The *channel thread* (one daemon thread, hidden from pydevd) reads messages: it stores breakpoints and settings, and
  posts each request for a stop to the stopped thread. It never waits for the compiling thread and never imports torch;
  it changes only the callbacks in Dynamo that make a frame being traced call the hook.
* The program's *other threads* never run Dynascope: those that want to compile wait for Dynamo's own lock.
"""
