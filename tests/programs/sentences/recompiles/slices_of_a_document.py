"""A reader scores the span that a slice object says."""

import torch


@torch.compile
def span_score(tokens, span, weight):
    return (tokens[span] @ weight).softmax(dim=0).amax()


torch.manual_seed(0)
tokens, weight = torch.randn(20, 3), torch.randn(3)
for span in (slice(0, 4), slice(4, 9), slice(9, 15), slice(2, 12)):
    print(span.start, span_score(tokens, span, weight).item())

# function: span_score
# compiles: 2
# over: yes
# next: span_score(tokens, slice(3, 17), weight)
# remedy: +14 -> part = tokens[span].clone(); torch._dynamo.mark_dynamic(part, 0) && 14 -> print(span.start, span_score(part, slice(None), weight).item())   -> compiles 1
# remedy: 6 -> @torch.compile(dynamic=True)   -> compiles 1
# remedy: 14 -> print(span.start, span_score(tokens[span].clone(), slice(None), weight).item())   -> compiles 2
