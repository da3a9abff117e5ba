import logging
from collections import OrderedDict
from dataclasses import dataclass, fields
from typing import Optional, Tuple, Union

import torch
from torch import nn

logger = logging.getLogger(__name__)
logger.setLevel(logging.ERROR)


class ModelOutput(OrderedDict):
    def __post_init__(self):
        for f in fields(self):
            v = getattr(self, f.name)
            if v is not None:
                self[f.name] = v


@dataclass
class EncoderOutput(ModelOutput):
    last_hidden_state: torch.FloatTensor = None
    pooler_output: Optional[torch.FloatTensor] = None
    attentions: Optional[Tuple[torch.FloatTensor, ...]] = None


class TinyBertConfig:
    model_type = "tinybert"

    def __init__(self, vocab_size=50, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, pad_token_id=0, **kwargs):
        self.vocab_size = vocab_size
        self.hidden_size = hidden_size
        self.num_hidden_layers = num_hidden_layers
        self.num_attention_heads = num_attention_heads
        self.pad_token_id = pad_token_id
        self.output_attentions = kwargs.pop("output_attentions", False)
        self.use_return_dict = kwargs.pop("return_dict", False)


class PreTrainedModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config

    def warn_if_padding_and_no_attention_mask(self, input_ids, attention_mask):
        if attention_mask is not None or self.config.pad_token_id is None:
            return
        if self.config.pad_token_id in input_ids[:, [-1, 0]]:  # breaks
            logger.warning("We strongly recommend passing in an `attention_mask`")

    def get_extended_attention_mask(self, mask):
        return (1.0 - mask[:, None, None, :].to(torch.float32)) * torch.finfo(torch.float32).min


class SelfAttention(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.num_heads = config.num_attention_heads
        self.q, self.k, self.v = (nn.Linear(config.hidden_size, config.hidden_size) for _ in range(3))

    def forward(self, x, mask=None, output_attentions=False):
        b, t, d = x.shape
        shp = lambda z: z.view(b, t, self.num_heads, -1).transpose(1, 2)
        scores = shp(self.q(x)) @ shp(self.k(x)).transpose(-1, -2) / (d // self.num_heads) ** 0.5
        if mask is not None:
            scores = scores + mask
        probs = scores.softmax(-1)
        ctx = (probs @ shp(self.v(x))).transpose(1, 2).reshape(b, t, d)
        return (ctx, probs) if output_attentions else (ctx,)


class TinyBertModel(PreTrainedModel):
    def __init__(self, config):
        super().__init__(config)
        self.embeddings = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=config.pad_token_id)
        self.layers = nn.ModuleList([SelfAttention(config) for _ in range(config.num_hidden_layers)])
        self.pooler = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, input_ids, attention_mask=None, output_attentions=None, return_dict=None) -> Union[Tuple, EncoderOutput]:
        output_attentions = output_attentions if output_attentions is not None else self.config.output_attentions
        return_dict = return_dict if return_dict is not None else self.config.use_return_dict
        self.warn_if_padding_and_no_attention_mask(input_ids, attention_mask)
        ext = None
        if attention_mask is not None and not torch.all(attention_mask == 1):  # breaks
            ext = self.get_extended_attention_mask(attention_mask)
        h = self.embeddings(input_ids)
        all_att = () if output_attentions else None
        for layer in self.layers:
            out = layer(h, ext, output_attentions)
            h = h + out[0]
            if output_attentions:
                all_att += (out[1],)
        pooled = torch.tanh(self.pooler(h[:, 0]))
        if not return_dict:
            return tuple(v for v in (h, pooled, all_att) if v is not None)
        return EncoderOutput(last_hidden_state=h, pooler_output=pooled, attentions=all_att)


if __name__ == "__main__":
    model = TinyBertModel(TinyBertConfig()).eval()
    model.forward = torch.compile(model.forward, backend="eager")
    ids = torch.randint(1, 50, (2, 6))
    ids[0, -1] = 0
    print(model(ids)[1].shape)
    mask = (ids != 0).long()
    print(len(model(ids, attention_mask=mask, output_attentions=True)))
