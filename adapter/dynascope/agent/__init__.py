"""Runs inside the debugged program; the only wing that imports torch, and only what torch._dynamo has loaded itself.

Which thread does what, and who may wait for whom
-------------------------------------------------
* The *compiling thread* (any thread of the program on which Dynamo traces) runs the hooks: `hook` → `breakpoints` and
  `stepping` decide → `stop` tells the adapter, waits for its acknowledgement, then waits in `suspension`. All looking
  (`inspection`, `evaluation`) happens on this thread, while it waits. It is the only one that ever blocks.
* The *channel thread* (one daemon thread, hidden from pydevd) reads messages: it files breakpoints and settings, and
  posts every look to the stopped thread. It never waits for the compiling thread and never imports torch; of Dynamo's
  state it touches only what makes a frame being traced call us (`watching`).
* The program's *other threads* never meet us: those that want to compile wait for Dynamo's own lock.
"""
