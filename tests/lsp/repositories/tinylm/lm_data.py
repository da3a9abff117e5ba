import torch


class PackedLoader:
    def __init__(self, cfg, n_batches):
        self.cfg, self.n = cfg, n_batches

    def __iter__(self):
        for _ in range(self.n):
            tok = torch.randint(2, self.cfg.vocab, (2, self.cfg.seq + 1))
            tok[:, 0] = tok[:, 5] = self.cfg.bos
            yield tok[:, :-1], tok[:, 1:]


def document_ids(tok, bos):
    return (tok == bos).cumsum(1)


def document_lengths(doc):
    """lengths of the packed documents, for the log line"""
    out = []
    for row in doc:
        _, counts = torch.unique_consecutive(row, return_counts=True)  # breaks
        out.append(counts.tolist())
    return out
