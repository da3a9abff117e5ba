"""Statements of several lines, control flow within one, and code in try, with and match."""

import contextlib

import torch


@contextlib.contextmanager
def scaled(x):
    yield x * 2  # stop: scaled [0/0]


def join(
    first,
    second,
    scale=1,
):
    """A docstring has no code."""
    return torch.cat(  # stop: join [0/0]
        [
            first,  # stop: join [0/0]
            second * scale,  # stop: join [0/0]
        ]
    )


def fn(x, mode):
    y = join(  # stop: fn [0/0]
        x,
        x + 1,  # stop: fn [0/0]
        scale=2,
    )
    try:
        z = y.view(-1)  # stop: fn [0/0]
        raise ValueError(mode)  # stop: fn [0/0]
    except ValueError:
        z = y.sum()  # stop: fn [0/0] | y=f32[4]
    finally:
        z = z + 1  # stop: fn [0/0] | z=f32[]
    with scaled(z) as w:
        w = w + 1  # stop: fn [0/0]
    match mode:
        case "add":
            w = w + 1  # stop: fn [0/0]
        case _:
            w = w - 1
    return w if mode else z  # stop: fn [0/0]


def main():
    torch.compile(fn, backend="eager")(torch.ones(2), "add")


if __name__ == "__main__":
    main()
