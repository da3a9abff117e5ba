import torch


def ball_query(points, center, radius):
    distance = (points - center).norm(dim=-1)
    (inside,) = torch.where(distance < radius)  # breaks
    return points[inside]


@torch.compile(backend="eager")
def density(points, radius=1.0):
    center = points.mean(0)
    near = ball_query(points, center, radius)
    if len(near) == 0:
        return points.new_zeros(())
    return near.norm(dim=-1).mean() / points.shape[0]


density(torch.randn(32, 3))
