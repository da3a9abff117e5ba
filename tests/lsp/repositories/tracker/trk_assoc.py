import torch


class Matcher:
    def cost(self, a, b):
        return torch.cdist(a, b)

    def __call__(self, tracks, dets):
        return self.assign(self.cost(tracks, dets), dets.shape[0])


class GreedyMatcher(Matcher):
    def __init__(self, max_dist):
        self.max_dist = max_dist

    def assign(self, cost, n_det):
        matches = []
        cost = cost.clone()
        for _ in range(min(cost.shape)):
            v, flat = cost.flatten().min(0)
            if v > self.max_dist:  # breaks
                break
            t, d = divmod(flat.item(), n_det)
            matches.append((t, d))
            cost[t] = float("inf")
            cost[:, d] = float("inf")
        used = {d for _, d in matches}
        return matches, [d for d in range(n_det) if d not in used]
