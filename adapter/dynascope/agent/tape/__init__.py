"""The tape of an attempt: what Dynamo traced and decided, line by line, in texts and numbers."""
