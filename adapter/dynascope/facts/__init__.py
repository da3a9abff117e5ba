"""What a trace decided, in SQLite: `model` are the facts, `store` the file, `writer` and `reader` its two ends.

Imports nothing of ours and never torch: the recorder in the program, the language server and the reports stand on it.

One file, `.dynascope/facts.db`, in WAL mode, is shared by all programs of a workspace: each process has one `Writer`,
each compile is one transaction, readers block nobody. A *launch* is what one command started (all ranks of a torchrun,
all workers of a pytest), a *run* is one process of it. By default a reader answers with the newest launch that has
facts about the file asked for. To read:

    from dynascope.facts.reader import Reader
    with Reader.open(facts_path(workspace)) as reader:   # StoreMissing | StoreUnreadable: sentences for the user
        reader.data_version()                            # another number when somebody has written; microseconds
        view = reader.view("/real/path/of/model.py")     # None, or the newest launch with facts about this file
        view.graph_breaks(), view.tensors(), view.tensors(10, 20), view.compiles(), ...

Each fact has a `path` and `line` (from 1), the store's number of its `compile`, and the number of the `source`: the
content of the file as it was traced. `view.sources[fact.source].line_hashes[line - 1]` is the hash of that line then,
and `model.hash_lines(text)` what it is now: equal means fresh; else align the two, and facts move with their lines.
"""
