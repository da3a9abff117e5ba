"""The public runtime of compiled autograd, and what it reports of each run."""
