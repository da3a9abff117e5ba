"""Inlined callees: helpers, closures, nested functions, lambdas, comprehensions, generators."""

import torch


def helper(q):
    s = q * 2  # stop: helper [0/0] | q=f32[2, 3]
    return s.sin()  # stop: helper [0/0] | q=f32[2, 3] | s=f32[2, 3]


def pieces(t):
    for j in range(2):
        part = t[j] * (j + 1)  # stop: pieces [0/0] | j=0 | t=f32[2, 3]; pieces [0/0] | j=1 | part=f32[3]
        yield part  # stop: pieces [0/0] x2


def make_adder(amount):
    def add(x):
        return x + amount  # stop: add [0/0] | x=f32[2, 3]

    return add


add_three = make_adder(3)


def fn(x):
    a = x.cos()  # stop: fn [0/0] | x=f32[2, 3]
    b = helper(a)

    def nested(y):
        return y - 1  # stop: nested [0/0] | y=f32[2, 3]

    c = nested(b) + add_three(b)
    d = sum(pieces(c))  # stop: fn [0/0] | c=f32[2, 3]
    e = (lambda z: z + 1)(d)  # stop: fn [0/0]; <lambda> [0/0] | z=f32[3]
    f = [
        q * 2  # stop 3.11: <listcomp> [0/0] x2  # stop >=3.12: fn [0/0] x2
        for q in (d, e)
    ]
    g = {name: value * 1.0 for name, value in zip("ab", f, strict=True)}
    while len(f) > 0:
        g["a"] = g["a"] + f.pop()  # stop: fn [0/0] x2
    return g["a"]  # stop: fn [0/0]


def main():
    torch.compile(fn, backend="eager")(torch.randn(2, 3))


if __name__ == "__main__":
    main()
