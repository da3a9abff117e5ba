"""Predict graph breaks without a run: interpret abstractly from each `torch.compile`.

`project` finds the sites and keeps results; `sites` finds what a module compiles; `interpreter` follows the functions
that Dynamo would trace, knowing of each value only whether it is a tensor; `rules` lists the calls that break.
Precision comes before completeness: code that may not run, and values that may not be tensors, are not reported.
"""
