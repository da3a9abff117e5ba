import torch

from kv_pool import LayerView, PagePool
from modeling import LM
from sampling import Sampler, SamplingParams


class Engine:
    def __init__(self, model, params, compile_sampler=True):
        self.model = model.eval()
        self.pool = PagePool(len(model.layers), 8, 4, 2, 8)
        self.views = [LayerView(self.pool, i) for i in range(len(model.layers))]
        self.sampler = Sampler(params)
        if compile_sampler:
            self.sample = torch.compile(self.sampler.__call__, backend="eager")
        self.model.forward = torch.compile(self.model.forward, backend="eager")

    @torch.inference_mode()
    def generate(self, prompt, max_new=3, seq_id=0):
        ids, pos, hist = prompt, torch.arange(len(prompt)), []
        for _ in range(max_new):
            logits = self.model(ids, pos, self.views, seq_id)
            ids, finished = self.sample(logits, hist)
            hist.append(ids.item())
            pos = pos[-1:] + 1
            if finished:
                break
        return hist


if __name__ == "__main__":
    torch.manual_seed(0)
    eng = Engine(LM(), SamplingParams(stop=[31]))
    print(eng.generate(torch.tensor([4, 5, 6])))
