"""Loaded from its path, and so not in `sys.modules`."""


def called():
    return 1


def uncalled():
    return 2  #: uncalled
