"""Build the stand-in for the torch of this interpreter, and run a command with it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from tests.support.cuda_stand_in import HERE, MANAGEMENT, OPERATORS, RUNTIME, environment

COMPILER = ["g++", "-O1", "-Wall", "-fPIC", "-shared"]


def includes(site_packages: Path) -> list[Path]:
    """Return the folders of CUDA's headers: most come with torch, the others with nvidia-cuda-crt."""
    folders = list(site_packages.glob("nvidia/cu*/include"))
    if not any((folder / "crt" / "host_defines.h").exists() for folder in folders):
        sys.exit("The headers of CUDA's compiler are missing: pip install nvidia-cuda-crt")
    return folders


def newest(folder: str) -> float:
    return max(path.stat().st_mtime for path in (HERE / folder).iterdir())


def build(folder: Path) -> None:
    """Compile what is older than its sources, about 20 seconds in all."""
    import torch

    if torch.version.cuda is None:
        sys.exit(f"torch {torch.__version__} is built without CUDA; say TORCH=torch==2.15.0 for one that is not")
    torch_folder = Path(torch.__file__).parent
    headers = includes(torch_folder.parent)
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "processes" / "sitecustomize.py", folder)
    runtime, operators = folder / RUNTIME, folder / OPERATORS
    if not runtime.exists() or runtime.stat().st_mtime < newest("runtime"):
        options = ["-std=c++17", f"-Wl,-soname,{RUNTIME}", *(f"-I{path}" for path in headers)]
        compile_into(runtime, "runtime", *options, libraries=["-ldl"])
    management = folder / MANAGEMENT
    if not management.exists() or management.stat().st_mtime < newest("management"):
        compile_into(management, "management", f"-Wl,-soname,{MANAGEMENT}", libraries=[])
    if not operators.exists() or operators.stat().st_mtime < newest("operators"):
        include = torch_folder / "include"
        options = ["-std=c++20", "-Wno-unused", f"-I{include}", f"-I{include / 'torch/csrc/api/include'}"]
        libraries = [f"-L{torch_folder / 'lib'}", "-lc10", "-ltorch_cpu", str(runtime)]
        compile_into(operators, "operators", *options, libraries=libraries)


def compile_into(library: Path, folder: str, *options: str, libraries: list[str]) -> None:
    sources = map(str, sorted((HERE / folder).glob("*.cpp")))
    subprocess.run([*COMPILER, *options, *sources, "-o", str(library), *libraries], check=True)


def main(command: list[str]) -> None:
    # below site-packages: for a debugger, what runs in each process is not code of the user's
    folder = Path(sysconfig.get_path("purelib")) / "_cuda_stand_in"
    build(folder)
    os.execvpe(command[0], command, os.environ | environment(folder))


if __name__ == "__main__":
    main(sys.argv[1:])
