"""An inference server that counts its requests under a lock in the compiled call."""

import threading

import torch
from torch import nn


class Server:
    def __init__(self, width: int) -> None:
        self.model = nn.Sequential(nn.Linear(width, 4), nn.ReLU(), nn.Linear(4, 2)).eval()
        self.lock = threading.Lock()
        self.served: dict[str, int] = {}

    def answer(self, request: torch.Tensor, user: str) -> torch.Tensor:
        centered = request - request.mean(-1, keepdim=True)
        with self.lock:
            self.served[user] = self.served.get(user, 0) + 1
        return self.model(centered).softmax(-1)


torch.manual_seed(0)
server = Server(3)
answer = torch.compile(server.answer)
with torch.no_grad():
    for user in ("ada", "bob", "ada"):
        scores = answer(torch.randn(2, 3), user)
        print(user, round(scores[:, 0].sum().item(), 5), server.served)
# breaks: 17
# compiles: 1
# remedy: -17 && -18 && +27 -> with server.lock: server.served[user] = server.served.get(user, 0) + 1 -> breaks none
