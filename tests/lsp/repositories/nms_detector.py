import torch
import torch.nn as nn


def box_iou(a, b):
    area = lambda z: (z[:, 2] - z[:, 0]) * (z[:, 3] - z[:, 1])
    lt = torch.max(a[:, None, :2], b[None, :, :2])
    rb = torch.min(a[:, None, 2:], b[None, :, 2:])
    inter = (rb - lt).clamp(min=0).prod(-1)
    return inter / (area(a)[:, None] + area(b)[None] - inter)


def nms(boxes, scores, thr=0.5, max_det=10):
    order = scores.argsort(descending=True)
    keep = []
    while order.numel() > 0 and len(keep) < max_det:
        i = order[0]
        keep.append(int(i))  # breaks
        if order.numel() == 1:
            break
        ious = box_iou(boxes[i][None], boxes[order[1:]])[0]
        order = order[1:][ious <= thr]
    return torch.as_tensor(keep)


class Detect(nn.Module):
    """YOLO-ish head, decodes and (at inference) filters"""
    stride = 4
    export = False

    def __init__(self, nc=3, ch=8):
        super().__init__()
        self.nc = nc
        self.conv = nn.Conv2d(ch, 4 + nc, 1)
        self.shape = None

    def make_grid(self, h, w):
        ys, xs = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        return torch.stack([xs, ys], -1).view(-1, 2).float() + 0.5

    def forward(self, x):
        y = self.conv(x).flatten(2).transpose(1, 2)
        if self.training or self.export:
            return y
        if self.shape != x.shape[-2:]:
            self.grid = self.make_grid(*x.shape[-2:])
            self.shape = x.shape[-2:]
        wh = y[..., 2:4].sigmoid() * 16
        ctr = (self.grid + y[..., :2].tanh()) * self.stride
        return torch.cat([ctr - wh / 2, ctr + wh / 2, y[..., 4:].sigmoid()], -1)


class Detector(nn.Module):
    def __init__(self, conf=0.3):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.SiLU(), nn.Conv2d(8, 8, 3, 2, 1), nn.SiLU())
        self.head = Detect()
        self.conf = conf

    def filter_one(self, p):
        conf, cls = p[:, 4:].max(1)
        m = conf > self.conf
        if not m.any():  # breaks
            return {"boxes": p.new_zeros(0, 4), "labels": cls[:0]}
        boxes, conf, cls = p[m, :4], conf[m], cls[m]  # breaks
        k = nms(boxes + cls[:, None] * 100., conf)
        return {"boxes": boxes[k], "labels": cls[k], "scores": conf[k]}

    def postprocess(self, pred):
        return [self.filter_one(p) for p in pred]

    def forward(self, x):
        pred = self.head(self.backbone(x))
        return pred if self.training else self.postprocess(pred)


torch.manual_seed(0)
det = Detector()
det = torch.compile(det, backend="eager", dynamic=False)
det.train()
det(torch.randn(1, 3, 16, 16)).mean().backward()
det.eval()
with torch.inference_mode():
    res = det(torch.randn(1, 3, 16, 16))
print([{k: v.shape for k, v in r.items()} for r in res])
