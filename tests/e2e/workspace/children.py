"""Runs the transformer in a process of its own."""

import pathlib
import subprocess
import sys

subprocess.run([sys.executable, str(pathlib.Path(__file__).with_name("transformer.py"))], check=True)
