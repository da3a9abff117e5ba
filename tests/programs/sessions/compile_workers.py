"""Asks one of inductor's compile workers, which are processes, who is in it, and whether it is traced."""

import sys

from torch._inductor import config

config.compile_threads = 2
config.worker_start_method = sys.argv[1]

from torch._inductor.async_compile import AsyncCompile  # noqa: E402

DEBUGGER = "getattr(__import__('sys').modules.get('_pydevd_bundle.pydevd_constants'), 'get_global_debugger', bool)()"
TRACED = "__import__('sys').gettrace() is not None"

if __name__ == "__main__":
    pool = AsyncCompile.process_pool()
    print(type(pool).__name__, *(pool.submit(eval, each).result() for each in (DEBUGGER, TRACED)))
