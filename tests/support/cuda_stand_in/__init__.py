"""A stand-in for a GPU: PyTorch's CUDA build runs on it as on a device, and each operator is done by the CPU.

Two libraries make it. `runtime/` is loaded into every process in place of CUDA's runtime and driver: memory, streams,
events, CUDA graphs (and `management/` in place of NVML). `operators/` replaces PyTorch's CUDA kernels by those of the
CPU, on the same memory. Triton's kernels are run by Triton's interpreter (`processes/`). All that is between is real:
CUDA's dispatch key, autograd's thread of the device, the caching allocator with its private pools, Inductor and its
CUDA graphs. Numbers are right; times are not, and no kernel of CUDA is tested.

`python -m tests.support.cuda_stand_in COMMAND…` runs a command with it; `make test-cuda-stand-in` the tests.
"""

from __future__ import annotations

import os
from collections import Counter
from ctypes import CDLL, c_char_p
from pathlib import Path

HERE = Path(__file__).resolve().parent
RUNTIME, MANAGEMENT, OPERATORS = "libcuda.so.1", "libnvidia-ml.so.1", "operators.so"


def environment(built: Path) -> dict[str, str]:
    """Return what a process needs in its environment to use the libraries that were built in this folder."""
    return {
        "LD_PRELOAD": f"{built / RUNTIME} {built / MANAGEMENT}",
        "CUDA_STAND_IN_OPERATORS": str(built / OPERATORS),
        "TRITON_INTERPRET": "1",
        "TRITON_LIBCUDA_PATH": str(built),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(built), os.environ.get("PYTHONPATH")])),
        # the interpreter compiles nothing, and torch 2.11 waits for idle worker processes when a program ends
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
    }


def is_used() -> bool:
    return "CUDA_STAND_IN_OPERATORS" in os.environ


def calls() -> Counter[str]:
    """Count the calls of the runtime so far that wait for the device, copy, or give it work."""
    told = CDLL(RUNTIME).stand_in_calls
    told.restype = c_char_p
    return Counter({name: int(count) for name, count in map(str.split, told().decode().splitlines())})
