"""Answer an agent's questions over the Model Context Protocol: record, explain, compare, and debug a program."""
