"""List the results of torch's functions by name, without importing torch."""

from __future__ import annotations

from dynascope_lsp.documents.syntax import words
from dynascope_lsp.prediction.values import MASK, OTHER, TENSOR, LiteralValue, Value

COMPILE = "torch.compile"

NOT_TENSORS = words(
    """
    Size device dtype finfo iinfo Generator no_grad enable_grad inference_mode autocast get_default_dtype is_tensor
    is_floating_point is_complex is_grad_enabled numel typename vmap get_num_threads promote_types result_type
    can_cast broadcast_shapes set_grad_enabled equal allclose is_nonzero compile manual_seed save load sym_int
    sym_float sym_max sym_min is_inference split chunk unbind tensor_split meshgrid max min sort topk where unique
    svd std_mean var_mean aminmax frexp atleast_1d atleast_2d atleast_3d broadcast_tensors align_tensors cummax
    cummin kthvalue mode median nanmedian unravel_index hsplit vsplit dsplit cond while_loop qr lu slogdet
    unsafe_split unsafe_chunk lstm histogram histogramdd geqrf triangular_solve compiled_with_cxx11_abi seed gru
    initial_seed from_file fork wait lobpcg pca_lowrank svd_lowrank split_with_sizes
    """,
    prefix="torch.",
)
"""Functions of torch that do not return a tensor, or not always."""

NOT_FUNCTIONS = words("float16 float32 float64 bfloat16 int8 int32 int64 bool long strided")

MASKS = words("eq ne lt le gt ge isnan isinf isfinite logical_and logical_or logical_not isclose")
"""Functions and methods that return masks: boolean tensors."""

REDUCTIONS = words("sum mean any all max min prod std var norm amax amin argmax argmin median logsumexp")
TENSOR_METHODS = REDUCTIONS | MASKS
TENSOR_METHODS |= words(
    """
    abs add sub mul div matmul mm bmm relu sigmoid tanh exp log sqrt pow softmax log_softmax clamp clip cumsum view
    reshape permute transpose squeeze unsqueeze flatten expand expand_as repeat contiguous clone detach float half
    double long int bool to cpu cuda type_as masked_fill masked_fill_ gather scatter index_select neg round floor
    ceil fill_ zero_ add_ mul_ t flip roll tril triu view_as count_nonzero square rsqrt sin cos sign new_zeros
    new_ones new_full new_tensor
    """
)
"""Methods that return a tensor when their receiver is one."""

TELLING_METHODS = REDUCTIONS | words("abs relu softmax masked_fill matmul isnan isfinite isinf numpy")
"""Methods that hardly any other object in compiled code has: their receiver is taken to be a tensor."""

TENSOR_ATTRIBUTES = frozenset(("T", "mT", "H", "data", "real", "imag"))

LAYER_TENSORS = frozenset(("weight", "bias", "in_proj_weight", "in_proj_bias", "running_mean", "running_var"))
"""Attributes of modules that are parameters or buffers."""


RETURN_THEMSELVES = words("to cuda cpu eval train half float double bfloat16 requires_grad_ to_empty apply")
"""Methods of nn.Module that return the module."""

LISTS = words(
    """
    MultiheadAttention LSTMCell AdaptiveLogSoftmaxWithLoss Module ModuleDict ParameterDict Transformer RNN GRU LSTM
    Sequential ModuleList ParameterList Parameter Buffer UninitializedParameter
    """,
    prefix="torch.nn.",
)
"""Classes of torch.nn whose objects do not return exactly one tensor when called."""

MODULE_CONSTRUCTORS = words(
    "Linear Conv1d Conv2d Conv3d LayerNorm BatchNorm1d BatchNorm2d Embedding LSTM GRU", prefix="torch.nn."
)

SEVERAL_TENSORS = words(
    """
    topk sort kthvalue mode cummax cummin chunk split unbind tensor_split aminmax split_with_sizes hsplit vsplit
    dsplit slogdet qr frexp
    """
)
"""Functions and methods that return several tensors."""

MORE_TENSOR_METHODS = words(
    """
    argsort index_add index_fill index_copy scatter_add diag diagonal outer dot mv swapaxes movedim narrow select
    unfold log1p expm1 log2 log10 erf tan atan cumprod lerp nan_to_num bitwise_and bitwise_or remainder fmod maximum
    minimum ravel type bfloat16 reciprocal frac trunc baddbmm addmm addcmul addcdiv rot90 broadcast_to
    repeat_interleave where take take_along_dim quantile cross trace short new_empty requires_grad_ pin_memory
    numpy swapdims moveaxis sgn det inverse softplus
    """
)
"""Methods that return a tensor when their receiver is one, and that other classes have, too."""


DISTRIBUTION_TENSORS = words("sample rsample log_prob entropy cdf icdf")
"""Methods of torch.distributions' classes that return a tensor."""


def is_layer(name: str) -> bool:
    """Whether a full name is that of an nn.Module class of torch.nn."""
    module, _, last = name.rpartition(".")
    return module == "torch.nn" and last[:1].isupper() and name not in ("torch.nn.Parameter", "torch.nn.Buffer")


def gives_tensors(name: str) -> bool:
    """Whether a full name is that of a torch function that returns several tensors."""
    module, _, last = name.rpartition(".")
    return module in ("torch", "torch.linalg") and last in SEVERAL_TENSORS


CONSTANTS: dict[str, Value] = {
    **dict.fromkeys(
        words(
            """
            compiler.is_compiling compiler.is_dynamo_compiling _dynamo.is_compiling
            _dynamo.external_utils.is_compiling _utils.is_compiling
            """,
            prefix="torch.",
        ),
        LiteralValue(True),
    ),
    **dict.fromkeys(
        words("compiler.is_exporting jit.is_scripting jit.is_tracing", prefix="torch."), LiteralValue(False)
    ),
    "torch.nn.Parameter": TENSOR,
}
"""Functions whose result is always the same, or always a tensor."""

NOT_TRACED = words(
    """
    compiler.disable _dynamo.disable compiler.allow_in_graph _dynamo.allow_in_graph jit.ignore jit.script
    _dynamo.nonstrict_trace compiler.nonstrict_trace compiler.assume_constant_result _dynamo.assume_constant_result
    library.custom_op _dynamo.dont_skip_tracing
    """,
    prefix="torch.",
)
"""Decorators and wrappers that Dynamo does not trace through."""

DISABLING = words("torch.compiler.disable torch._dynamo.disable")

CONTEXTS = words(
    """
    torch.no_grad torch.enable_grad torch.inference_mode torch.autocast torch.set_grad_enabled torch.amp.autocast
    torch.profiler.record_function torch.autograd.profiler.record_function contextlib.nullcontext contextlib.suppress
    """
)
"""Context managers that Dynamo enters, and can enter again after a break."""

CONTEXT_MANAGER = "contextlib.contextmanager"
"""The decorator of generators whose first part runs when `with` calls them."""

TRANSPARENT = words(
    """
    torch.no_grad torch.inference_mode torch.enable_grad torch.autocast contextlib.contextmanager
    builtins.staticmethod builtins.classmethod builtins.property typing.no_type_check typing.override functools.wraps
    abc.abstractmethod torch.compiler.nested_compile_region torch.jit.export torch.jit.unused
    """
)
"""Decorators that Dynamo traces through."""

CLASS_DECORATORS = words(
    "dataclasses.dataclass functools.total_ordering typing.final typing.runtime_checkable enum.unique"
)
"""Class decorators that leave the methods as they are."""


def result_of(name: str) -> Value | None:
    """Return the result of a call of a torch function, or None when it is not known."""
    if name in CONSTANTS:
        return CONSTANTS[name]
    module, _, function = name.rpartition(".")
    if module == "torch" and function not in NOT_FUNCTIONS and function.islower():
        if name in NOT_TENSORS or function.startswith(("is_", "get_", "set_", "use_", "are_")):
            return OTHER if function in ("is_tensor", "finfo", "iinfo", "device") else None
        return MASK if function in MASKS else TENSOR
    if module in ("torch.linalg", "torch.fft", "torch.special") and function.islower():
        return TENSOR if function not in ("eig", "eigh", "svd", "lstsq", "lu", "lu_factor", "inv_ex") else None
    if module == "torch.nn.functional":
        pair = function.endswith("_with_indices") or "max_pool" in function or function.startswith(("has_", "multi_"))
        return None if pair else TENSOR
    return None


def usual_name(name: str) -> str:
    """Return the usual name of a function or class that has several full names."""
    if name.startswith("torch.nn.modules."):
        return f"torch.nn.{name.rpartition('.')[2]}"
    return name.replace("torch.Tensor.", "torch.", 1)
