"""Paged-ish kv pool shared by all layers."""
import torch


class PagePool:
    def __init__(self, n_layers, n_pages, page, heads, dim):
        self.page = page
        self.k = torch.zeros(n_layers, n_pages, page, heads, dim)
        self.v = torch.zeros(n_layers, n_pages, page, heads, dim)
        self.free = list(range(n_pages))
        self.tables = {}

    def allocate(self, seq_id, length):
        table = self.tables.setdefault(seq_id, [])
        while len(table) * self.page < length:
            if not self.free:
                raise MemoryError("kv pool exhausted")
            table.append(self.free.pop(0))
        return table


class LayerView:
    def __init__(self, pool, layer):
        self.pool, self.layer = pool, layer

    def append(self, seq_id, pos, k, v):
        start = pos[0].item()  # breaks
        table = self.pool.allocate(seq_id, start + k.shape[0])
        for i in range(k.shape[0]):
            pg, off = divmod(start + i, self.pool.page)  # breaks
            self.pool.k[self.layer, table[pg], off] = k[i]
            self.pool.v[self.layer, table[pg], off] = v[i]
        n = start + k.shape[0]
        kk = self.pool.k[self.layer, table].flatten(0, 1)[:n]
        vv = self.pool.v[self.layer, table].flatten(0, 1)[:n]
        return kk, vv
