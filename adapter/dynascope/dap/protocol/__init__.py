"""The Debug Adapter Protocol as this adapter uses it: `envelope` (of every message), `arguments` (of requests).

A message is decoded in two stages: the envelope first, with `arguments` and `body` left as raw JSON, then the typed
arguments of its command. So a message that is only passed on is never re-encoded, and one with bad arguments still
gets a response with its `seq`.
"""
