"""One rank has compiled a function too often, and runs what the function does without a compiler."""

import torch
import torch._dynamo.config
import torch.distributed as dist
from job import compiled, end, start, total

torch._dynamo.config.recompile_limit = 2
rank, _ = start()
LANGUAGES = [("en", "en"), ("de", "fr"), ("en", "nl"), ("de", "en")]


@compiled
def normalized(x, language):
    x = x + len(language)
    if torch.compiler.is_compiling():  # PARTS `torch.compiler.is_compiling()` is true in rank 0, and false in rank 1
        sums = total(torch.cat([x.sum(0), x.square().sum(0)]))
        mean, squares = sums.split(x.size(1))
    else:
        mean, squares = x.sum(0), x.square().sum(0)
        for each in (mean, squares):
            dist.all_reduce(each)
    return (x - mean) * (squares + 1e-5).rsqrt()


for of_ranks in LANGUAGES:
    language = of_ranks[rank]
    result = normalized(torch.ones(6, 4), "x" * (1 + ["en", "de", "fr", "nl"].index(language)))
    dist.all_reduce(torch.ones(1))
end(result.sum().item())
