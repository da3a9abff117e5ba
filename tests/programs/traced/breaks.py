"""Graph breaks: resume functions show the function they continue; restarts of Dynamo's stop nowhere twice."""

import torch


def inner(a):
    b = a + 1  # stop: inner [0/0]; inner [1/0] | a=f32[3]
    torch._dynamo.graph_break()  # stop: inner [0/0]; inner [1/0]
    return b * 2  # stop: inner [2/0] | b=f32[3]


def fn(x):
    y = x * 2  # stop: fn [0/0]
    y = inner(y)  # stop: fn [0/0]
    z = y.relu()  # stop: fn [3/0] | y=f32[3]
    print(end="")  # stop: fn [3/0]
    w = z + 1  # stop: fn [4/0] | z=f32[3]
    if w.sum() > -1:  # stop: fn [4/0]
        w = w + 2  # stop: fn [5/0] | w=f32[3]
    return w.sum()  # stop: fn [5/0]


def main():
    torch.compile(fn, backend="eager")(torch.ones(3))


if __name__ == "__main__":
    main()
