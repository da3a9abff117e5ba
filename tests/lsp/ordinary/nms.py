import torch


def iou(box, boxes):
    lt = torch.maximum(box[:2], boxes[:, :2])
    rb = torch.minimum(box[2:], boxes[:, 2:])
    inter = (rb - lt).clamp(min=0).prod(-1)
    area = (boxes[:, 2:] - boxes[:, :2]).prod(-1)
    return inter / (area + (box[2:] - box[:2]).prod() - inter)


@torch.compile(backend="eager")
def nms(boxes, scores, threshold=0.5):
    order = scores.argsort(descending=True)
    keep = []
    while order.numel() > 0:
        i = order[0]
        keep.append(i.item())  # breaks
        rest = order[1:]
        order = rest[iou(boxes[i], boxes[rest]) <= threshold]
    return torch.tensor(keep)


corner = torch.rand(5, 2)
nms(torch.cat([corner, corner + 0.5], 1), torch.rand(5))
