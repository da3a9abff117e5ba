"""Programs that are compiled again because of a size that others must fit, or that are dynamic in no call."""

import torch

from tests.programs.traced.recompiled import calls


def nested(batch, meta):
    return (batch * meta["idx"][:, None]).sum()  #: nested


def main_nested():
    return calls(nested, *((torch.ones(n, 3), {"idx": torch.ones(n)}) for n in (4, 2, 3)))


def three(x, y, z):
    return (x * y + z).sum()  #: three


def main_three():
    return calls(three, *((torch.ones(n, 3), torch.ones(n, 1), torch.ones(n, 3)) for n in (4, 2, 3)))


def numbered(x, n):
    return x * torch.ones(n)  #: numbered


def main_numbered():
    return calls(numbered, *((torch.ones(n), n) for n in (4, 2, 3)))


def twice(x, y):
    return torch.cat([x, x]) + y  #: twice


def main_twice():
    return calls(twice, *((torch.ones(n), torch.ones(2 * n)) for n in (4, 3, 5)))


def both_sizes(x):
    return x * 2  #: both_sizes


def main_both_sizes():
    return calls(both_sizes, *((torch.ones(n, n + 1),) for n in (4, 2, 3)))


def apart(x, y):
    return x.sum() + y.sum()  #: apart


def main_apart():
    return calls(apart, *((torch.ones(n), torch.ones(n)) for n in (4, 2, 3)))


def static_size(x):
    return x * 2  #: static_size


def main_static_size():
    return calls(static_size, *((torch.ones(n, 5),) for n in (2, 3)), dynamic=False)


def static_number(x, n):
    return x * n  #: static_number


def main_static_number():
    return calls(static_number, *((torch.ones(2), n) for n in (2, 3)), dynamic=False)


def static_loop(x, n):
    for _ in range(n):  #: static_loop
        x = x + 1
    return x


def main_static_loop():
    return calls(static_loop, *((torch.ones(2), n) for n in (2, 3)), dynamic=False)


def needed(x):
    for _ in range(x.shape[0]):  #: needed
        x = x + 1
    return x


def main_needed():
    return calls(needed, *((torch.ones(n),) for n in (2, 3)))


def main_needed_of_dynamic():
    return calls(needed, *((torch.ones(n),) for n in (2, 3)), dynamic=True)


def passed_on(x):
    print(end="")
    return x * 2


def main_passed_on():
    return calls(passed_on, *((torch.ones(n),) for n in (4, 2, 3)))


def computed(x):
    y = torch.ones(len(x.tolist()))
    print(end="")
    return y * 2


def main_computed():
    return calls(computed, *((torch.ones(n),) for n in (4, 2, 3)))


def marked_inside(x, y):
    torch._dynamo.mark_static(y, 0)
    return x * 2 + y.sum()  #: marked_inside


def main_marked_inside():
    return calls(marked_inside, *((torch.ones(n), torch.ones(5)) for n in (4, 2, 3)))


def main_equal_to_fixed():
    return calls(marked_inside, *((torch.ones(n), torch.ones(4)) for n in (4, 3, 5)), dynamic=True)
