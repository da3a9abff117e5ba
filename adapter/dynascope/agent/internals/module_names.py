"""Names of torch's modules, for code that waits for their import: this module imports nothing."""

DYNAMO = "torch._dynamo"
COMPILED_AUTOGRAD = "torch._dynamo.compiled_autograd"
AOT_GRAPHS = "torch._functorch._aot_autograd.graph_compile"
PARTITIONERS = "torch._functorch.partitioners"
AOT_CACHE = "torch._functorch._aot_autograd.autograd_cache"
INDUCTOR_GRAPH = "torch._inductor.graph"
INDUCTOR_CACHE = "torch._inductor.codecache"
CPP_KERNELS = "torch._inductor.codegen.cpp"
TRITON_KERNELS = "torch._inductor.codegen.triton"

IMPORTED_LATER = frozenset(
    {
        COMPILED_AUTOGRAD,
        AOT_GRAPHS,
        PARTITIONERS,
        AOT_CACHE,
        INDUCTOR_GRAPH,
        INDUCTOR_CACHE,
        CPP_KERNELS,
        TRITON_KERNELS,
    }
)
"""Modules that may be imported after `torch._dynamo`: their names are checked when they are wrapped."""
