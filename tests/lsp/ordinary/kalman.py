import torch


class Filter:
    def __init__(self, n=2):
        self.F = torch.eye(n)
        self.H = torch.eye(n)
        self.Q = 0.01 * torch.eye(n)
        self.R = 0.1 * torch.eye(n)

    def predict(self, x, P):
        return self.F @ x, self.F @ P @ self.F.T + self.Q

    def update(self, x, P, z):
        S = self.H @ P @ self.H.T + self.R
        if torch.linalg.det(S) == 0:  # breaks
            raise ValueError("singular")
        K = P @ self.H.T @ torch.linalg.inv(S)
        x = x + K @ (z - self.H @ x)
        return x, P - K @ self.H @ P

    def run(self, x, P, zs):
        errors = []
        for z in zs:
            x, P = self.predict(x, P)
            x, P = self.update(x, P, z)
            errors.append((z - x).norm().item())
        return x, errors


kf = Filter()
run = torch.compile(kf.run, backend="eager")
run(torch.zeros(2), torch.eye(2), torch.randn(3, 2))
