"""Graph breaks within statements of several lines and within `with`, and a `while`: each line stops once a pass."""

import torch


def spread(x):
    y = torch.add(  # stop: spread [0/0]
        x.sin(),  # stop: spread [0/0]
        x.sum().item(),  # stop: spread [0/0]
    )
    return y.mul(y.sum().item()).add(  # stop: spread [1/0]
        y.cos(),  # stop: spread [3/0]
        alpha=2,  # stop: spread [3/0]
    )


def within(x):
    with torch.no_grad():  # stop: within [4/0]
        x = x + 1  # stop: within [4/0]
        print(end="")  # stop: within [4/0]
        x = x * 2  # stop: within [5/0]
    return x.sin()  # stop: within [5/0]


def loops(x, n):
    while n > 0:  # stop: loops [6/0] x3
        x = x + 1  # stop: loops [6/0] x2
        n -= 1  # stop: loops [6/0] x2
    return x  # stop: loops [6/0]


def main():
    for function in (spread, within):
        torch.compile(function, backend="eager")(torch.ones(3))
    torch.compile(loops, backend="eager")(torch.ones(3), 2)


if __name__ == "__main__":
    main()
