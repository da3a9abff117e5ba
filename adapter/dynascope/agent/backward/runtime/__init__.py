"""The public runtime of compiled autograd, and its report of each run."""
