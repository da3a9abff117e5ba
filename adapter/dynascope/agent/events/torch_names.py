"""The names private to torch that the agent wraps or needs, each declared once.

`Events` wraps what is declared here, `self_test` looks for it in this torch, and docs/wrapped-names.md lists it.
`distributed_names` has those of the distributed package. Imports no torch.
"""

from __future__ import annotations

from functools import partial

import dynascope.agent.events.distributed_names  # noqa: F401  declares names, too
from dynascope.agent.events.declared_names import (
    BACKEND_FAILURE,
    BACKWARD,
    CALLED_FUNCTIONS,
    CODEGEN,
    COMPTIME,
    DATA_BREAKPOINTS,
    EVALUATION,
    GRAPH_BREAK,
    GRAPH_DOCUMENTS,
    GUARD_FILTERS,
    LATER_FORMS,
    NEVER_HIT,
    NODE_BREAKPOINTS,
    RECOMPILE,
    RECOMPILE_LIMIT,
    RECORDING,
    RUN_MODE,
    SKIPPED_CUDA_GRAPHS,
    SKIPPED_FRAME,
    SPECIALIZATION,
    STOPS,
    TIME_TRAVEL,
    TIMELINE,
    WHAT_IF,
    Feature,
    TorchName,
    declare,
    declared,
    later,
)

DYNAMO = "torch._dynamo"
COMPILED_AUTOGRAD = later("torch._dynamo.compiled_autograd")
AOT_GRAPHS = later("torch._functorch._aot_autograd.graph_compile")
PARTITIONERS = later("torch._functorch.partitioners")
AOT_CACHE = later("torch._functorch._aot_autograd.autograd_cache")
INDUCTOR_GRAPH = later("torch._inductor.graph")
INDUCTOR_CACHE = later("torch._inductor.codecache")
CPP_KERNELS = later("torch._inductor.codegen.cpp")
TRITON_KERNELS = later("torch._inductor.codegen.triton")
COMPILED_GRAPHS = later("torch._inductor.output_code")
INDUCTOR = later("torch._inductor.compile_fx")
CUDA_GRAPHS = later("torch._inductor.cudagraph_trees")


def all_names() -> tuple[TorchName, ...]:
    """Return every declaration."""
    return tuple(declared)


_output_graph = partial(declare, "torch._dynamo.output_graph")
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

_symbolic_convert = partial(declare, "torch._dynamo.symbolic_convert")
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

_convert_frame = partial(declare, "torch._dynamo.convert_frame")
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

_side_effects = partial(declare, "torch._dynamo.side_effects")
MUTATION = _side_effects("SideEffects.mutation", "self, var, ...", "2.0", DATA_BREAKPOINTS)
STORE_ATTR = _side_effects("SideEffects.store_attr", "self, item, name, value, ...", "2.0", DATA_BREAKPOINTS)
CODEGEN_SAVE_TEMPVARS = _side_effects("SideEffects.codegen_save_tempvars", "self, cg", "2.1", CODEGEN)
CODEGEN_HOOKS = _side_effects("SideEffects.codegen_hooks", "self, cg", "2.1", CODEGEN)
CODEGEN_UPDATE_MUTATED = _side_effects(
    "SideEffects.codegen_update_mutated", "self, cg, log_side_effects", "2.0", CODEGEN
)
GET_MODIFIED_VARS = _side_effects("SideEffects._get_modified_vars", "self", "2.0", CODEGEN)

_codegen = partial(declare, "torch._dynamo.codegen")
MAKE_CALL_GENERATED_CODE = _codegen("PyCodegen.make_call_generated_code", "self, fn_name", "2.0", CODEGEN)

_exc = partial(declare, "torch._dynamo.exc")
UNSUPPORTED = _exc("Unsupported.__init__", None, "2.0", GRAPH_BREAK)
USER_ERROR = _exc("UserError.__init__", None, "2.0", GRAPH_BREAK)
STEP_UNSUPPORTED = _exc("StepUnsupported.__init__", None, "2.9", GRAPH_BREAK)
ADD_TO_STATS = _exc("Unsupported.add_to_stats", "self, category", "2.0", RECORDING, TIMELINE)
SHORTEN_TRACEBACK = _exc("ShortenTraceback.__init__", None, "2.7", BACKEND_FAILURE)
RESTART_ANALYSIS = _exc("RestartAnalysis", None, "2.0", STOPS)
SPECULATION_RESTART_ANALYSIS = _exc("SpeculationRestartAnalysis", None, "2.1", STOPS)

_resume_execution = partial(declare, "torch._dynamo.resume_execution")
GENERATED_CODE_METADATA = _resume_execution(
    "ContinueExecutionCache.generated_code_metadata", None, "2.1", STOPS, RECORDING
)

_trace_rules = partial(declare, "torch._dynamo.trace_rules")
SKIP_DIRS = _trace_rules("SKIP_DIRS", None, "2.1", STOPS, RECORDING)
RECOMPILE_RE = _trace_rules("_recompile_re", "", "2.1", STOPS, RECORDING)

COMPTIME_BUILTINS = declare("torch._dynamo.comptime", "builtins", None, "2.1", COMPTIME, member="breakpoint")
CALL_COMPTIME = declare(
    "torch._dynamo.variables.misc", "ComptimeVariable.call_function", "self, tx, args, kwargs", "2.1", TIME_TRAVEL
)
INITIALIZE_LAZY_MODULE = declare(
    "torch._dynamo.variables.nn_module", "initialize_lazy_module", "tx, mod, args, kwargs", "2.0", TIME_TRAVEL
)
INVOKE_AS_CONSTANT = declare(
    "torch._dynamo.variables.functions",
    "invoke_and_store_as_constant",
    "tx, fn, name, args, kwargs",
    "2.0",
    TIME_TRAVEL,
    WHAT_IF,
)
WRAP_TENSOR = declare(
    "torch._dynamo.variables.builder", "VariableBuilder.wrap_tensor", "self, value", "2.0", TIME_TRAVEL, WHAT_IF
)
GET_CODE_STATE = declare("torch._dynamo.pgo", "get_code_state", "", "2.6", WHAT_IF)
CALLBACK_FROM_STANCE = declare("torch._dynamo.eval_frame", "_callback_from_stance", "callback", "2.6", EVALUATION)
ADD_GUARD = declare("torch._guards", "GuardsSet.add", "self, guard, collect_debug_stack, skip", "2.0", DATA_BREAKPOINTS)

LOADS = {
    declare(module, name, None, since, NEVER_HIT, may_be_absent=True): what
    for module, name, since, what in (
        ("torch._dynamo.package", "CompilePackage.install", "2.8", "a precompiled package"),
        ("torch._dynamo.aot_compile", "AOTCompiledFunction.deserialize", "2.9", "a result of aot_compile"),
        ("torch._inductor", "aoti_load_package", "2.6", "a package of AOTInductor"),
        ("torch._export", "aot_load", "2.2", "a library of AOTInductor"),
        ("torch.export", "load", "2.1", "an exported program"),
    )
}
"""The functions that load compiled code, each with the name of such code for the user."""

_symbolic_shapes = partial(declare, "torch.fx.experimental.symbolic_shapes")
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

CALL_FAKE_KERNEL = declare(
    "torch._library.utils", "Kernel.__call__", "self, args, kwargs", "2.4", CALLED_FUNCTIONS, TIME_TRAVEL, WHAT_IF
)
_dynamo_utils = partial(declare, "torch._dynamo.utils")
LOG_EVENT_START = _dynamo_utils(
    "ChromiumEventLogger.log_event_start", "self, event_name, time_ns, metadata, ...", "2.5", RECORDING
)
LOG_EVENT_END = _dynamo_utils(
    "ChromiumEventLogger.log_event_end", "self, event_name, time_ns, metadata, ...", "2.5", RECORDING
)
RUN_NODE = _dynamo_utils(
    "run_node", "tracer, node, args, kwargs, nnmodule", "2.0", CALLED_FUNCTIONS, TIME_TRAVEL, WHAT_IF
)

LOG_INFERENCE_GRAPH = declare(AOT_GRAPHS, "_log_inference_graph", "fw_module, ...", "2.11", LATER_FORMS)
LOG_JOINT_GRAPH = declare(AOT_GRAPHS, "_log_joint_graph", "fx_g, ...", "2.11", LATER_FORMS)
LOG_FW_BW_GRAPHS = declare(
    AOT_GRAPHS,
    "_log_fw_bw_graphs",
    "fw_module, bw_module, maybe_subclass_meta, fw_metadata, aot_config, ...",
    "2.11",
    LATER_FORMS,
)
SOLVE_MIN_CUT = declare(
    PARTITIONERS, "solve_min_cut", "joint_graph, node_info, min_cut_options, dont_ban", "2.3", LATER_FORMS
)
AOT_LOOKUP = declare(AOT_CACHE, "AOTAutogradCache._lookup", "key, ...", "2.11", LATER_FORMS)
AOT_CACHE_KEY = declare(AOT_CACHE, "autograd_cache_key", None, "2.11", LATER_FORMS)
# one function of `torch._inductor.cudagraph_utils`, which each of these imports by its name
SKIPPING_CUDA_GRAPHS = tuple(
    declare(module, "log_cudagraph_skip_and_bump_counter", "msg", since, SKIPPED_CUDA_GRAPHS)
    for module, since in ((COMPILED_GRAPHS, "2.6"), (INDUCTOR, "2.7"), (CUDA_GRAPHS, "2.4"))
)
SAVE_OUTPUT_CODE = declare(INDUCTOR_GRAPH, "GraphLowering.save_output_code", None, "2.11", LATER_FORMS)
_inductor_cache = partial(declare, INDUCTOR_CACHE)
PREPARE_KEY = _inductor_cache("FxGraphCache.prepare_key", "gm, example_inputs, fx_kwargs, ...", "2.6", LATER_FORMS)
LOAD_WITH_KEY = _inductor_cache(
    "FxGraphCache.load_with_key",
    "key, debug_lines, example_inputs, local, remote_cache, is_backward, ...",
    "2.6",
    LATER_FORMS,
)
DEFINE_CPP_KERNEL = declare(
    CPP_KERNELS, "CppScheduling.define_kernel", "self, src_code, nodes, ...", "2.11", LATER_FORMS
)
DEFINE_TRITON_KERNEL = declare(
    TRITON_KERNELS, "TritonScheduling.define_kernel", "self, src_code, node_schedule, ...", "2.11", LATER_FORMS
)

_c = partial(declare, "torch._C")
SET_VERBOSE_LOGGER = _c("_dynamo.compiled_autograd.set_verbose_logger", None, "2.4", BACKWARD)
SET_AUTOGRAD_COMPILER = _c("_dynamo.compiled_autograd.set_autograd_compiler", None, "2.1", BACKWARD)
CLEAR_CACHE = _c("_dynamo.compiled_autograd.clear_cache", None, "2.4", BACKWARD)


def _declare_capture(name: str, parameters: str, since: str, *more: Feature, may_be_absent: bool = False) -> TorchName:
    name = f"AutogradCompilerInstance.{name}"
    return declare(COMPILED_AUTOGRAD, name, parameters, since, BACKWARD, *more, may_be_absent=may_be_absent)


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
