"""A program that never compiles anything, and needs no torch."""

import sys


def add(left, right):
    return left + right  #: add


if __name__ == "__main__":
    print("arguments", sys.argv[1:])
    print("on stderr", file=sys.stderr)
    result = add(1, 2)  #: call
    print("result", result)
    sys.exit(3)
