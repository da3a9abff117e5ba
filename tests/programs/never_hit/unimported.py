"""Never imported."""

WIDTH = 3  #: module_level


def function():
    return WIDTH  #: function
