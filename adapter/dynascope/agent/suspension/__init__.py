"""Suspend stopped threads: inside pydevd with debugpy, otherwise in Dynascope's own loop."""
