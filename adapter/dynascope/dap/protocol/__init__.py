"""The Debug Adapter Protocol as this adapter speaks it: `envelope` (every message), `arguments` (what requests carry).

A message is decoded in two stages: the envelope first, with `arguments` and `body` left as raw JSON, then the typed
arguments of its command. So a message that is merely passed on is never re-encoded, and one with bad arguments still
gets an answer that bears its `seq`.
"""
