"""Starts a child that compiles, as a launcher of ranks does, and waits for it."""

import subprocess
import sys
from pathlib import Path

if __name__ == "__main__":
    child = Path(__file__).with_name("compiled.py")
    code = subprocess.call([sys.executable, str(child)])
    print("the child ended with", code)  #: ended
