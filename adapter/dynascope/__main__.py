"""Run `python -m dynascope`."""

from dynascope.cli import main

if __name__ == "__main__":
    main(prog_name="dynascope")
