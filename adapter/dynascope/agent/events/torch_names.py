"""The names private to torch that the agent wraps or needs, each declared once.

`Events` wraps what is declared here, `self_test` looks for it in this torch, and docs/wrapped-names.md lists it.
Imports no torch.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NewType

IMPORTED_LATER: set[str] = set()
"""Modules that may be imported after `torch._dynamo`: their names are wrapped, and checked, when they are imported."""


def _later(module: str) -> str:
    IMPORTED_LATER.add(module)
    return module


DYNAMO = "torch._dynamo"
COMPILED_AUTOGRAD = _later("torch._dynamo.compiled_autograd")
AOT_GRAPHS = _later("torch._functorch._aot_autograd.graph_compile")
PARTITIONERS = _later("torch._functorch.partitioners")
AOT_CACHE = _later("torch._functorch._aot_autograd.autograd_cache")
INDUCTOR_GRAPH = _later("torch._inductor.graph")
INDUCTOR_CACHE = _later("torch._inductor.codecache")
CPP_KERNELS = _later("torch._inductor.codegen.cpp")
TRITON_KERNELS = _later("torch._inductor.codegen.triton")
COMPILED_GRAPHS = _later("torch._inductor.output_code")
INDUCTOR = _later("torch._inductor.compile_fx")
CUDA_GRAPHS = _later("torch._inductor.cudagraph_trees")
DISTRIBUTED = _later("torch.distributed.distributed_c10d")
PROCESS_GROUPS = _later("torch._C._distributed_c10d")
FULLY_SHARD = _later("torch.distributed.fsdp._fully_shard._fsdp_param_group")

Feature = NewType("Feature", str)
"""A feature that does not work where torch lacks a name; its text is the subject of a sentence."""
STOPS = Feature("compile-time stops")
RECORDING = Feature("recording")
DATA_BREAKPOINTS = Feature("data breakpoints")
NODE_BREAKPOINTS = Feature("function breakpoints on graph nodes")
RUN_MODE = Feature("breakpoints with mode `run`")
BACKWARD = Feature("stops in captured backwards")
TIME_TRAVEL = Feature("the warning of what going back repeats")
TIMELINE = Feature("events in the timeline")
WHAT_IF = Feature("`what if` at compile-time stops")
COMPTIME = Feature("`dynascope.comptime`, and stops at `comptime.breakpoint()`")
CALLED_FUNCTIONS = Feature("run-time stops in backends and fake kernels")
GRAPH_DOCUMENTS = Feature("compiled graphs as documents")
LATER_FORMS = Feature("what AOTAutograd and Inductor made of a graph")
SKIPPED_CUDA_GRAPHS = Feature("why CUDA graphs are skipped")
GUARD_FILTERS = Feature("what filters of guards would drop")
EVALUATION = Feature("the debug console")
GRAPH_BREAK = Feature("the exception filter `graphBreak`")
RECOMPILE = Feature("the exception filter `recompile`")
RECOMPILE_LIMIT = Feature("the exception filter `recompileLimit`")
SPECIALIZATION = Feature("the exception filter `specialization`")
BACKEND_FAILURE = Feature("the exception filter `backendFailure`")
SKIPPED_FRAME = Feature("the exception filter `skippedFrame`")
CODEGEN = Feature("the exception filter `codegen`")
NEVER_HIT = Feature("reasons of breakpoints in loaded code")
TIMEOUTS = Feature("longer time-outs of process groups")
RUN_TIME_COLLECTIVES = Feature("the comparison of collectives that ranks call uncompiled")


@dataclass(frozen=True)
class TorchName:
    """A private function, class or variable of torch.

    `parameters` are the names that its signature begins with: all of them, unless the last is `...`; None where none is
    passed. `since` is the first torch version that has it. Not every torch has one that `may_be_absent`. `member`: the
    function that is wrapped of one of Python's modules, of which torch gets a copy.
    """

    module: str
    name: str
    parameters: str | None
    since: str
    serves: tuple[Feature, ...]
    may_be_absent: bool = False
    member: str = ""

    def __str__(self) -> str:
        """Return `torch._dynamo.output_graph.OutputGraph.push_tx`, for example."""
        return f"{self.module}.{self.name}"


_declared: list[TorchName] = []


def _declare(
    module: str,
    name: str,
    parameters: str | None,
    since: str,
    *serves: Feature,
    may_be_absent: bool = False,
    member: str = "",
) -> TorchName:
    declaration = TorchName(module, name, parameters, since, serves, may_be_absent, member)
    _declared.append(declaration)
    return declaration


def all_names() -> tuple[TorchName, ...]:
    """Return every declaration."""
    return tuple(_declared)


_output_graph = partial(_declare, "torch._dynamo.output_graph")
PUSH_TX = _output_graph("OutputGraph.push_tx", "self, tx", "2.10", STOPS, RECORDING, WHAT_IF)
POP_TX = _output_graph("OutputGraph.pop_tx", "self", "2.10", STOPS, RECORDING, GRAPH_BREAK, SKIPPED_FRAME, CODEGEN)
CALL_USER_COMPILER = _output_graph(
    "OutputGraph.call_user_compiler", "self, gm, ...", "2.0", RECORDING, CALLED_FUNCTIONS, TIME_TRAVEL
)
RUN_COMPILER_COLLECTIVE = _output_graph("OutputGraph.run_compiler_collective", "self, ...", "2.5", RECORDING)
GET_STACK_VALUES_TO_RESTORE = _output_graph(
    "OutputGraph._get_stack_values_to_restore", "self, tx, stack_pops", "2.9", CODEGEN
)
CODEGEN_SUFFIX = _output_graph(
    "OutputGraph.codegen_suffix", "self, tx, stack_values, cg, log_side_effects", "2.0", CODEGEN
)
CODEGEN_CELLS = _output_graph("OutputGraph.codegen_cells", "self, tx, cg", "2.9", CODEGEN)
CREATE_NODE = _output_graph("SubgraphTracer.create_node", "self, ...", "2.0", NODE_BREAKPOINTS, DATA_BREAKPOINTS)
GRAPH_BREAK_REASONS = _output_graph("graph_break_reasons", None, "2.0", WHAT_IF)
LAZY_FORMAT_GRAPH_CODE = _output_graph("lazy_format_graph_code", "name, gm, ...", "2.1", GRAPH_DOCUMENTS)

_symbolic_convert = partial(_declare, "torch._dynamo.symbolic_convert")
STARTS_LINE = _symbolic_convert("InstructionTranslatorBase.starts_line", "self, lineno", "2.10", STOPS, RECORDING)
LOG_GRAPH_BREAK = _symbolic_convert(
    "InstructionTranslatorBase.log_graph_break",
    "self, code_options, reason, exc",
    "2.6",
    RECORDING,
    GRAPH_BREAK,
    TIMELINE,
    WHAT_IF,
)
CREATE_RESUME = _symbolic_convert("InstructionTranslatorBase.create_resume", "self, ...", "2.10", CODEGEN)
LOADS_OF_GLOBALS = tuple(
    _symbolic_convert(f"{owner}._load_global", None, "2.0", COMPTIME)
    for owner in ("InstructionTranslatorBase", "InliningInstructionTranslator")
)
"""The methods that load a global, of a frame and of one that is inlined."""
CHECK_INLINEABLE = _symbolic_convert("InliningInstructionTranslator.check_inlineable", "func", "2.1", RUN_MODE)

_convert_frame = partial(_declare, "torch._dynamo.convert_frame")
CALL_OF_CALLBACK = _convert_frame(
    "CatchErrorsWrapper.__call__", "self, frame, cache_entry, frame_state", "2.1", STOPS, RECORDING
)
TRACE_FRAME = _convert_frame("trace_frame", None, "2.9", STOPS, RECORDING)
COMPILE_FRAME = _convert_frame(
    "compile_frame",
    "code, globals, locals, builtins, closure, compiler_fn, one_graph, restart_reasons, ...",
    "2.0",
    WHAT_IF,
)
CAPTURE_FRAME = _convert_frame("_fullgraph_capture_frame", "frame, ...", "2.10", STOPS, RECORDING)
COMPILE = _convert_frame(
    "_compile", "code, globals, locals, builtins, closure, compiler_fn, one_graph, ...", "2.0", RECORDING
)
RECOMPILATION_REASONS = _convert_frame(
    "get_and_maybe_log_recompilation_reasons",
    None,  # `cache_entry` until 2.13, then `cache_entries`; then `frame`
    "2.5",
    RECORDING,
    RECOMPILE,
    RECOMPILE_LIMIT,
    TIMELINE,
)
EXCEEDS_RECOMPILE_LIMIT = _convert_frame("exceeds_recompile_limit", None, "2.7", RECOMPILE_LIMIT)
BUILD_GUARDS = _convert_frame(
    "CheckFunctionManager.__init__", "self, f_code, output_graph, ...", "2.0", RECORDING, GUARD_FILTERS
)
BUILD_GUARDS_OF = _convert_frame(
    "CheckFunctionManager.build_guards", "self, sorted_guards, ...", "2.8", RECORDING, GUARD_FILTERS
)
OUTPUT_CODES = _convert_frame("output_codes", None, "2.0", STOPS)
COMPILE_LOCK = _convert_frame("compile_lock", None, "2.0", EVALUATION)
COLLECT = _convert_frame("gc", None, "2.7", STOPS, RECORDING, member="collect")
ENTRIES = CALL_OF_CALLBACK, CAPTURE_FRAME
"""The functions by which a compile begins."""

_side_effects = partial(_declare, "torch._dynamo.side_effects")
MUTATION = _side_effects("SideEffects.mutation", "self, var, ...", "2.0", DATA_BREAKPOINTS)
STORE_ATTR = _side_effects("SideEffects.store_attr", "self, item, name, value, ...", "2.0", DATA_BREAKPOINTS)
CODEGEN_SAVE_TEMPVARS = _side_effects("SideEffects.codegen_save_tempvars", "self, cg", "2.1", CODEGEN)
CODEGEN_HOOKS = _side_effects("SideEffects.codegen_hooks", "self, cg", "2.1", CODEGEN)
CODEGEN_UPDATE_MUTATED = _side_effects(
    "SideEffects.codegen_update_mutated", "self, cg, log_side_effects", "2.0", CODEGEN
)
GET_MODIFIED_VARS = _side_effects("SideEffects._get_modified_vars", "self", "2.0", CODEGEN)

_codegen = partial(_declare, "torch._dynamo.codegen")
MAKE_CALL_GENERATED_CODE = _codegen("PyCodegen.make_call_generated_code", "self, fn_name", "2.0", CODEGEN)

_exc = partial(_declare, "torch._dynamo.exc")
UNSUPPORTED = _exc("Unsupported.__init__", None, "2.0", GRAPH_BREAK)
USER_ERROR = _exc("UserError.__init__", None, "2.0", GRAPH_BREAK)
STEP_UNSUPPORTED = _exc("StepUnsupported.__init__", None, "2.9", GRAPH_BREAK)
ADD_TO_STATS = _exc("Unsupported.add_to_stats", "self, category", "2.0", RECORDING, TIMELINE)
SHORTEN_TRACEBACK = _exc("ShortenTraceback.__init__", None, "2.7", BACKEND_FAILURE)
RESTART_ANALYSIS = _exc("RestartAnalysis", None, "2.0", STOPS)
SPECULATION_RESTART_ANALYSIS = _exc("SpeculationRestartAnalysis", None, "2.1", STOPS)

_resume_execution = partial(_declare, "torch._dynamo.resume_execution")
GENERATED_CODE_METADATA = _resume_execution(
    "ContinueExecutionCache.generated_code_metadata", None, "2.1", STOPS, RECORDING
)

_trace_rules = partial(_declare, "torch._dynamo.trace_rules")
SKIP_DIRS = _trace_rules("SKIP_DIRS", None, "2.1", STOPS, RECORDING)
RECOMPILE_RE = _trace_rules("_recompile_re", "", "2.1", STOPS, RECORDING)

COMPTIME_BUILTINS = _declare("torch._dynamo.comptime", "builtins", None, "2.1", COMPTIME, member="breakpoint")
CALL_COMPTIME = _declare(
    "torch._dynamo.variables.misc", "ComptimeVariable.call_function", "self, tx, args, kwargs", "2.1", TIME_TRAVEL
)
INITIALIZE_LAZY_MODULE = _declare(
    "torch._dynamo.variables.nn_module", "initialize_lazy_module", "tx, mod, args, kwargs", "2.0", TIME_TRAVEL
)
INVOKE_AS_CONSTANT = _declare(
    "torch._dynamo.variables.functions",
    "invoke_and_store_as_constant",
    "tx, fn, name, args, kwargs",
    "2.0",
    TIME_TRAVEL,
    WHAT_IF,
)
WRAP_TENSOR = _declare(
    "torch._dynamo.variables.builder", "VariableBuilder.wrap_tensor", "self, value", "2.0", TIME_TRAVEL, WHAT_IF
)
GET_CODE_STATE = _declare("torch._dynamo.pgo", "get_code_state", "", "2.6", WHAT_IF)
CALLBACK_FROM_STANCE = _declare("torch._dynamo.eval_frame", "_callback_from_stance", "callback", "2.6", EVALUATION)
ADD_GUARD = _declare(
    "torch._guards", "GuardsSet.add", "self, guard, collect_debug_stack, skip", "2.0", DATA_BREAKPOINTS
)

LOADS = {
    _declare(module, name, None, since, NEVER_HIT, may_be_absent=True): what
    for module, name, since, what in (
        ("torch._dynamo.package", "CompilePackage.install", "2.8", "a precompiled package"),
        ("torch._dynamo.aot_compile", "AOTCompiledFunction.deserialize", "2.9", "a result of aot_compile"),
        ("torch._inductor", "aoti_load_package", "2.6", "a package of AOTInductor"),
        ("torch._export", "aot_load", "2.2", "a library of AOTInductor"),
        ("torch.export", "load", "2.1", "an exported program"),
    )
}
"""The functions that load compiled code, each with the name of such code for the user."""

_distributed = partial(_declare, DISTRIBUTED)
RENDEZVOUS = _distributed("rendezvous", "url, ...", "1.0", TIMEOUTS)
NEW_PROCESS_GROUP = _distributed(
    "_new_process_group_helper",
    "group_size, group_rank, global_ranks_in_group, backend, store, group_name, ...",
    "1.8",
    TIMEOUTS,
)
SPLIT_GROUP = _distributed("split_group", "parent_pg, split_ranks, timeout, ...", "2.4", TIMEOUTS)
NEW_GROUP = _distributed("_new_group_with_tag", "ranks, ...", "2.0", RUN_TIME_COLLECTIVES)
UPDATE_DEFAULT_GROUP = _distributed("_update_default_pg", "pg", "2.1", RUN_TIME_COLLECTIVES, may_be_absent=True)


def _methods_of_groups(names: str) -> tuple[TorchName, ...]:
    return tuple(
        _declare(PROCESS_GROUPS, f"ProcessGroup.{name}", None, "1.13", RUN_TIME_COLLECTIVES, may_be_absent=True)
        for name in names.split()
    )


COLLECTIVES = _methods_of_groups(
    "allreduce allreduce_coalesced broadcast reduce allgather _allgather_base all_gather_single allgather_coalesced"
    " allgather_into_tensor_coalesced all_gather_single_coalesced reduce_scatter _reduce_scatter_base"
    " reduce_scatter_single reduce_scatter_tensor_coalesced reduce_scatter_single_coalesced gather scatter alltoall"
    " alltoall_base all_to_all_single gather_single gather_into_tensor barrier"
)
"""The methods by which Python code calls collectives."""
EXCHANGES_OF_SOME = _methods_of_groups("send recv recv_anysource monitored_barrier")
"""The methods that not all ranks of a group call alike."""
PREPARE_FOR_BACKWARD = _declare(
    PROCESS_GROUPS, "Reducer.prepare_for_backward", None, "1.7", RUN_TIME_COLLECTIVES, may_be_absent=True
)
FSDP_COLLECTIVES = tuple(
    _declare(FULLY_SHARD, name, "fsdp_params, ...", "2.6", RUN_TIME_COLLECTIVES, may_be_absent=True)
    for name in ("foreach_all_gather", "foreach_reduce")
)
"""The functions of FSDP2 that gather the parameters of a module, and reduce their gradients."""

_symbolic_shapes = partial(_declare, "torch.fx.experimental.symbolic_shapes")
UNINTERESTING_FILES = _symbolic_shapes("uninteresting_files", "", "2.0", STOPS, RECORDING)
SET_REPLACEMENT = _symbolic_shapes(
    "ShapeEnv._set_replacement", "self, a, tgt, msg", "2.1", RECORDING, SPECIALIZATION, DATA_BREAKPOINTS, TIMELINE
)
MAYBE_GUARD_REL = _symbolic_shapes("ShapeEnv._maybe_guard_rel", "self, expr", "2.1", SPECIALIZATION, DATA_BREAKPOINTS)
UPDATE_VAR_TO_RANGE = _symbolic_shapes(
    "ShapeEnv._update_var_to_range", "self, symbol, ...", "2.1", SPECIALIZATION, DATA_BREAKPOINTS
)
PRODUCE_GUARDS_VERBOSE = _symbolic_shapes("ShapeEnv.produce_guards_verbose", None, "2.7", GUARD_FILTERS)
CONSTRAINT_VIOLATION = _symbolic_shapes("ConstraintViolationError.__init__", None, "2.0", SPECIALIZATION)

CALL_FAKE_KERNEL = _declare(
    "torch._library.utils", "Kernel.__call__", "self, args, kwargs", "2.4", CALLED_FUNCTIONS, TIME_TRAVEL, WHAT_IF
)
_dynamo_utils = partial(_declare, "torch._dynamo.utils")
LOG_EVENT_START = _dynamo_utils(
    "ChromiumEventLogger.log_event_start", "self, event_name, time_ns, metadata, ...", "2.5", RECORDING
)
LOG_EVENT_END = _dynamo_utils(
    "ChromiumEventLogger.log_event_end", "self, event_name, time_ns, metadata, ...", "2.5", RECORDING
)
RUN_NODE = _dynamo_utils(
    "run_node", "tracer, node, args, kwargs, nnmodule", "2.0", CALLED_FUNCTIONS, TIME_TRAVEL, WHAT_IF
)

LOG_INFERENCE_GRAPH = _declare(AOT_GRAPHS, "_log_inference_graph", "fw_module, ...", "2.11", LATER_FORMS)
LOG_JOINT_GRAPH = _declare(AOT_GRAPHS, "_log_joint_graph", "fx_g, ...", "2.11", LATER_FORMS)
LOG_FW_BW_GRAPHS = _declare(
    AOT_GRAPHS,
    "_log_fw_bw_graphs",
    "fw_module, bw_module, maybe_subclass_meta, fw_metadata, aot_config, ...",
    "2.11",
    LATER_FORMS,
)
SOLVE_MIN_CUT = _declare(
    PARTITIONERS, "solve_min_cut", "joint_graph, node_info, min_cut_options, dont_ban", "2.3", LATER_FORMS
)
AOT_LOOKUP = _declare(AOT_CACHE, "AOTAutogradCache._lookup", "key, ...", "2.11", LATER_FORMS)
AOT_CACHE_KEY = _declare(AOT_CACHE, "autograd_cache_key", None, "2.11", LATER_FORMS)
# one function of `torch._inductor.cudagraph_utils`, which each of these imports by its name
SKIPPING_CUDA_GRAPHS = tuple(
    _declare(module, "log_cudagraph_skip_and_bump_counter", "msg", since, SKIPPED_CUDA_GRAPHS)
    for module, since in ((COMPILED_GRAPHS, "2.6"), (INDUCTOR, "2.7"), (CUDA_GRAPHS, "2.4"))
)
SAVE_OUTPUT_CODE = _declare(INDUCTOR_GRAPH, "GraphLowering.save_output_code", None, "2.11", LATER_FORMS)
_inductor_cache = partial(_declare, INDUCTOR_CACHE)
PREPARE_KEY = _inductor_cache("FxGraphCache.prepare_key", "gm, example_inputs, fx_kwargs, ...", "2.6", LATER_FORMS)
LOAD_WITH_KEY = _inductor_cache(
    "FxGraphCache.load_with_key",
    "key, debug_lines, example_inputs, local, remote_cache, is_backward, ...",
    "2.6",
    LATER_FORMS,
)
DEFINE_CPP_KERNEL = _declare(
    CPP_KERNELS, "CppScheduling.define_kernel", "self, src_code, nodes, ...", "2.11", LATER_FORMS
)
DEFINE_TRITON_KERNEL = _declare(
    TRITON_KERNELS, "TritonScheduling.define_kernel", "self, src_code, node_schedule, ...", "2.11", LATER_FORMS
)

_c = partial(_declare, "torch._C")
SET_VERBOSE_LOGGER = _c("_dynamo.compiled_autograd.set_verbose_logger", None, "2.4", BACKWARD)
SET_AUTOGRAD_COMPILER = _c("_dynamo.compiled_autograd.set_autograd_compiler", None, "2.1", BACKWARD)
CLEAR_CACHE = _c("_dynamo.compiled_autograd.clear_cache", None, "2.4", BACKWARD)


def _declare_capture(name: str, parameters: str, since: str, *more: Feature, may_be_absent: bool = False) -> TorchName:
    name = f"AutogradCompilerInstance.{name}"
    return _declare(COMPILED_AUTOGRAD, name, parameters, since, BACKWARD, *more, may_be_absent=may_be_absent)


BEGIN_CAPTURE = _declare_capture("begin_capture", "self, inputs, sizes, scalars, origins, ...", "2.1", RECORDING)
END_CAPTURE = _declare_capture("end_capture", "self, outputs", "2.1", RECORDING)
SET_NODE_ORIGIN = _declare_capture("set_node_origin", "self, node_name, nodecall_index, pyobj, ...", "2.4")
LOG_COMPILE_REASONS = _declare_capture("log_compile_reasons", "self, compile_reasons", "2.6")
CREATE_GRAPH_MODULE = _declare_capture("create_graph_module", "self, ...", "2.4")

HOOK_CALLS = {
    name: _declare_capture(name, parameters, since, may_be_absent=True)
    for name, parameters, since in (
        ("tensor_pre_hook", "self, inputs, hook_id, ...", "2.1"),
        ("cpp_tensor_pre_hook", "self, inputs, hook_id, ...", "2.7"),
        ("pre_hook", "self, inputs, hook_id", "2.1"),
        ("post_hook", "self, outputs, inputs, hook_id", "2.1"),
        ("post_acc_grad_hook", "self, input, hook_id", "2.1"),
        ("unpack_hook", "self, hook_id, data_id", "2.7"),
    )
}
"""Methods that put a call of a hook into the graph, by PyTorch's name for the kind of hook."""

PASSES = {
    name: _declare_capture(name, "self, ...", since, may_be_absent=True)
    for name, since in (
        ("move_graph_nodes_to_cuda", "2.4"),
        ("delay_unpack_hook_nodes", "2.7"),
        ("reorder_tensor_pre_hook_nodes", "2.7"),
        ("reorder_pre_hook_nodes_to_schedule_asap", "2.7"),
        ("reorder_accumulate_grad_nodes", "2.7"),
        ("reorder_pre_hook_nodes_to_mimic_eager", "2.7"),
        ("reorder_post_acc_grad_hook_nodes", "2.7"),
        ("reorder_post_hook_nodes", "2.7"),
        ("dce", "2.7"),
        ("remove_unused_sizes", "2.7"),
    )
}
"""What `end_capture` does to the graph, in this order."""
