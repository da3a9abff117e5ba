"""Detection post-processing, pure torch NMS (no torchvision)."""
import torch


def box_area(b):
    return (b[:, 2] - b[:, 0]).clamp(min=0) * (b[:, 3] - b[:, 1]).clamp(min=0)


def box_iou(a, b):
    lt = torch.maximum(a[:, None, :2], b[None, :, :2])
    rb = torch.minimum(a[:, None, 2:], b[None, :, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[..., 0] * wh[..., 1]
    return inter / (box_area(a)[:, None] + box_area(b)[None] - inter + 1e-6)


def nms(boxes, scores, thr):
    order = scores.argsort(descending=True)
    keep = []
    while order.numel() > 0:
        i = order[0]
        keep.append(i)
        if order.numel() == 1:
            break
        ious = box_iou(boxes[i].unsqueeze(0), boxes[order[1:]])[0]  # breaks
        order = order[1:][ious <= thr]
    return torch.stack(keep)


def filter_scores(boxes, scores, thr):
    idx = torch.nonzero(scores > thr).squeeze(1)  # breaks
    return boxes[idx], scores[idx]


class PostProcessor:
    def __init__(self, score_thr=0.2, iou_thr=0.5, max_det=3):
        self.score_thr, self.iou_thr, self.max_det = score_thr, iou_thr, max_det

    def __call__(self, pred):
        boxes, scores = self.decode(pred)
        boxes, scores = filter_scores(boxes, scores, self.score_thr)
        if boxes.shape[0] == 0:
            return boxes, scores
        keep = nms(boxes, scores, self.iou_thr)[: self.max_det]
        return boxes[keep], scores[keep]

    @staticmethod
    def decode(pred):
        cxcy, wh = pred[:, :2], pred[:, 2:4].abs()
        boxes = torch.cat([cxcy - wh / 2, cxcy + wh / 2], dim=1)
        return boxes, pred[:, 4].sigmoid()


post = PostProcessor()
run = torch.compile(lambda p: post(p), backend="eager")

torch.manual_seed(2)
p = torch.rand(8, 5)
p[:, 4] += 0.5
b, s = run(p)
print(b.shape, s.tolist())
