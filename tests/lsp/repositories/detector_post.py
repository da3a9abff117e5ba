import torch
import torch.nn as nn

# --------------------------------------------------------
# single stage detector head + post processing
# --------------------------------------------------------

SCORE_THR = 0.3
IOU_THR = 0.5


def box_area(b):
    return (b[:, 2] - b[:, 0]).clamp(min=0) * (b[:, 3] - b[:, 1]).clamp(min=0)


def box_iou(a, b):
    lt = torch.max(a[:, None, :2], b[None, :, :2])
    rb = torch.min(a[:, None, 2:], b[None, :, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[..., 0] * wh[..., 1]
    return inter / (box_area(a)[:, None] + box_area(b)[None] - inter + 1e-6)


def nms(boxes, scores, thr):
    order = scores.argsort(descending=True)
    keep = []
    while order.numel() > 0:
        i = order[0]
        keep.append(i.item())  # breaks
        if order.numel() == 1:
            break
        iou = box_iou(boxes[i][None], boxes[order[1:]])[0]
        order = order[1:][iou <= thr]
    return torch.tensor(keep, dtype=torch.long)


class Head(nn.Module):
    def __init__(self, c, nc):
        super().__init__()
        self.nc = nc
        self.cls = nn.Conv2d(c, nc, 1)
        self.reg = nn.Conv2d(c, 4, 1)

    def decode(self, reg, h, w):
        ys, xs = torch.meshgrid(torch.arange(h), torch.arange(w), indexing="ij")
        ctr = torch.stack([xs, ys], -1).reshape(-1, 2).float()
        reg = reg.exp().clamp(max=4)
        return torch.cat([ctr - reg[:, :2], ctr + reg[:, 2:]], 1)

    def forward(self, f):
        b, _, h, w = f.shape
        cls = self.cls(f).sigmoid().permute(0, 2, 3, 1).reshape(b, -1, self.nc)
        reg = self.reg(f).permute(0, 2, 3, 1).reshape(b, -1, 4)
        return cls, torch.stack([self.decode(r, h, w) for r in reg])


class Detector(nn.Module):
    def __init__(self, nc=3):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 8, 3, 2, 1))
        self.head = Head(8, nc)

    def postprocess(self, cls, boxes):
        results = []
        for c, bx in zip(cls, boxes):
            scores, labels = c.max(-1)
            m = scores > SCORE_THR
            scores, labels, bx = scores[m], labels[m], bx[m]  # breaks
            k = nms(bx, scores, IOU_THR)
            results.append({"boxes": bx[k], "scores": scores[k], "labels": labels[k].tolist()})
        return results

    def forward(self, x):
        cls, boxes = self.head(self.backbone(x))
        if self.training:
            return cls, boxes
        return self.postprocess(cls, boxes)


net = Detector().eval()
net.forward = torch.compile(net.forward, backend="eager")
with torch.no_grad():
    for r in net(torch.rand(2, 3, 16, 16)):
        print(len(r["labels"]), r["boxes"].shape)
