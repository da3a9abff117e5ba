"""Things with a compile method that is not torch's."""

import re

import torch

PATTERN = re.compile("a+")


class Query:
    def __init__(self, text):
        self.text = text

    def compile(self):
        return self.text.upper()

    def __call__(self, x):
        print("query", self.text)
        return x.sum().item()


def build():
    query = Query("select")
    query.compile()
    return query


@torch.compile(backend="eager")
def f(x):
    return x + 1


if __name__ == "__main__":
    build()(torch.ones(3))
    f(torch.ones(3))
