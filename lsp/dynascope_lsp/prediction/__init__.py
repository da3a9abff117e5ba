"""What a compile would meet, before any run: a small abstract interpreter follows the code from each `torch.compile`.

`project` finds the sites and keeps results; `sites` says what a module compiles; `interpreter` walks the functions that
Dynamo would trace, knowing of each value only whether it is a tensor; `rules` says which calls break. Precision comes
before completeness: what only may run, or only may be a tensor, is passed over.
"""
