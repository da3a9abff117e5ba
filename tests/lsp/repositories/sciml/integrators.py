import torch
from abc import ABC, abstractmethod


class Integrator(ABC):
    order: int

    def __init__(self, term, grid, dt):
        self.term, self.grid, self.dt = term, grid, dt

    def f(self, u):
        return self.term.rhs(u, self.grid)

    @abstractmethod
    def step(self, u): ...

    def rollout(self, u, n, save_every=1):
        frames = []
        for i in range(n):
            u = self.step(u)
            if (i + 1) % save_every == 0:
                frames.append(u)
        return torch.stack(frames)


class Euler(Integrator):
    order = 1

    def step(self, u):
        return u + self.dt * self.f(u)


class SSPRK3(Integrator):
    order = 3
    coeffs = ((0.0, 1.0), (0.75, 0.25), (1 / 3, 2 / 3))

    def step(self, u):
        v = u
        for a, b in self.coeffs:
            v = a * u + b * (v + self.dt * self.f(v))
        return v


def make(name, *a, **kw):
    for cls in Integrator.__subclasses__():
        if cls.__name__.lower() == name:
            return cls(*a, **kw)
    raise KeyError(name)
