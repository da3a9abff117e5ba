"""Dynamo's decisions in SQLite: `model` has the facts, `store` the file, `writer` and `reader` access to it.

It imports no other part of Dynascope and never torch: the recorder, the language server and the reports use it.

One file, `.dynascope/facts.db`, in WAL mode, is shared by all programs of a workspace: each process has one `Writer`,
each compile is one transaction, and readers never block. A *launch* is all processes that one command started (all
ranks of a torchrun, all workers of a pytest), a *run* is one process of it. By default a reader returns what holds now
of the requested file: see `current_compiles`. To read:

    from dynascope.facts.reader import Reader
    with Reader.open(facts_path(workspace)) as reader:   # StoreMissing | StoreUnreadable: sentences for the user
        reader.data_version()                            # changes when a writer has committed; microseconds
        view = reader.view("/real/path/of/model.py")     # None, or what holds now of this file
        view.facts("graph_breaks"), view.facts("tensors", 10, 20), view.compiles(), ...

Each fact has a `path` and `line` (from 1), the store's number of its `compile`, and the number of the `source`: the
content of the file as it was traced. `view.sources[fact.source].line_hashes[line - 1]` is the line's hash at that time,
and `model.hash_lines(text)` are the present ones: equal means fresh; else align the two, and facts move with lines.
"""
