import torch


@torch.compile(backend="eager")
def keep(boxes, scores, threshold):
    mask = scores > threshold
    boxes = boxes[mask]  # breaks
    if boxes.shape[0] == 0:
        return boxes.new_zeros(0, 4)
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return boxes[areas > 1.0]  # breaks


b = torch.tensor([[0.0, 0, 2, 2], [0, 0, 1, 1], [1, 1, 4, 4]])
s = torch.tensor([0.9, 0.8, 0.3])
for t in (0.5, 0.2, 0.95):
    print(keep(b, s, t).tolist())
