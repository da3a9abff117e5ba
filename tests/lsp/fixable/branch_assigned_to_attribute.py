import torch


class State:
    value = torch.zeros(2)


state = State()


@torch.compile(backend="eager")
def store(x):
    if x.sum() > 0:
        state.value = x * 2
    return x + state.value


print(store(torch.ones(2)), state.value)
