"""Asks one of inductor's compile workers, which are processes, who is in it."""

from torch._inductor import config

config.compile_threads = 2

from torch._inductor.async_compile import AsyncCompile  # noqa: E402

DEBUGGERS = "[name for name in __import__('sys').modules if name.startswith(('pydevd', 'debugpy'))]"

if __name__ == "__main__":
    pool = AsyncCompile.process_pool()
    print(type(pool).__name__, pool.submit(eval, DEBUGGERS).result())
