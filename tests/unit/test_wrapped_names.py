"""One declaration per name of torch's: what it wraps, how that is undone, and what is said where a torch lacks it."""

from __future__ import annotations

import gc
import importlib
import inspect
import re
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dynascope.agent.events import wrapping
from dynascope.agent.events.declared_names import DATA_BREAKPOINTS, RECORDING, STOPS, TorchName
from dynascope.agent.events.hook_failures import ORDER, HookFailures
from dynascope.agent.events.torch_names import all_names
from dynascope.agent.events.wrapping import Events, is_found, unobserved

from tests.support import wrapped_names

ROOT = Path(__file__).parents[2]
MODULE = "a_module_of_torch"
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


class Base:
    def inherited(self) -> str:
        return "inherited"


class Graph(Base):
    def add(self, node: str, *, name: str = "") -> str:
        return f"{node} {name}"

    @staticmethod
    def is_open(what: str) -> bool:
        return what == "open"


@pytest.fixture(autouse=True)
def module(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A module with the class `Graph`, new for each test."""
    made = types.ModuleType(MODULE)
    vars(made)["Graph"] = type("Graph", (Base,), dict(vars(Graph)))
    monkeypatch.setitem(sys.modules, MODULE, made)
    return made


def declared(name: str, parameters: str | None = None) -> TorchName:
    return TorchName(MODULE, name, parameters, "2.0", (DATA_BREAKPOINTS,))


@pytest.fixture
def reported() -> list[str]:
    """What hook bodies have failed with."""
    return []


@pytest.fixture
def events(reported: list[str]) -> Iterator[Events]:
    made = Events(HookFailures(reported.append))
    yield made
    made.remove()


def test_events_come_before_and_after_the_original(module: Any, events: Events):
    heard: list[Any] = []
    events.call_before(declared("Graph.add"), lambda graph, node, name: heard.append(("before", node, name)))
    events.call_after(declared("Graph.add"), lambda result, graph, node, name: heard.append(("after", result)))
    assert module.Graph().add("mm", name="a") == "mm a"
    assert heard == [("before", "mm", "a"), ("after", "mm a")]


def test_removal_leaves_the_class_as_it_was(module: Any, events: Events):
    names = [declared(f"Graph.{name}") for name in ("add", "is_open", "inherited")]
    was = dict(vars(module.Graph))
    for name in names:
        events.call_before(name, lambda *args, **kwargs: None)
    assert {name: value for name, value in vars(module.Graph).items() if value is not was.get(name)}.keys() == {
        "add",
        "is_open",
        "inherited",
    }
    assert module.Graph.is_open("open") and module.Graph().inherited() == "inherited"
    events.remove()
    assert dict(vars(module.Graph)) == was


def test_a_wrapper_that_was_wrapped_since_stays_and_tells_nothing_more(module: Any, events: Events):
    heard: list[str] = []
    events.call_before(declared("Graph.add"), lambda graph, node: heard.append(node))
    ours = module.Graph.add
    module.Graph.add = lambda graph, node: ours(graph, node).upper()
    module.Graph().add("mm")
    events.remove()
    assert module.Graph().add("mm") == "MM "
    assert heard == ["mm"]


def test_a_wrapper_has_the_signature_of_the_original(module: Any, events: Events):
    before = inspect.signature(module.Graph.add)
    name = declared("Graph.add", "self, node, name")
    events.call_before(name, lambda *args, **kwargs: None)
    assert inspect.signature(module.Graph.add) == before
    assert is_found(name)


@pytest.mark.parametrize(
    ("name", "parameters", "is_there"),
    [
        ("Graph.add", "self, node, name", True),
        ("Graph.add", "self, node, ...", True),
        ("Graph.add", "...", True),
        ("Graph.add", None, True),
        ("Graph.add", "self, node", False),
        ("Graph.add", "self, graph, ...", False),
        ("Graph.is_open", "what", True),
        ("Graph.remove", None, False),
        ("Nothing.add", None, False),
    ],
)
def test_a_name_is_found_with_the_parameters_that_we_pass(name: str, parameters: str | None, is_there: bool):
    assert is_found(declared(name, parameters)) == is_there


def test_where_a_name_is_missing_none_is_wrapped(module: Any, events: Events):
    was = dict(vars(module.Graph))
    for name in ("Graph.add", "Graph.gone", "Graph.is_open"):
        events.call_before(declared(name), lambda *args, **kwargs: None)
    assert dict(vars(module.Graph)) == was


def test_a_failure_in_a_hook_is_reported_once_and_the_program_goes_on(module: Any, events: Events, reported: list[str]):
    def fail(*args: Any, **kwargs: Any) -> None:
        raise KeyError("of ours")

    events.call_before(declared("Graph.add"), fail)
    events.call_after(declared("Graph.add"), lambda result, *args: result.no_such_name)
    for _ in range(3):
        assert module.Graph().add("mm") == "mm "
    assert ["KeyError: 'of ours'" in text for text in reported] == [True, False]
    assert "no_such_name" in reported[1]


def test_what_the_program_raises_passes_and_is_no_failure(module: Any, events: Events, reported: list[str]):
    def add(graph: Any, node: str) -> None:
        raise LookupError(node)

    module.Graph.add = add
    events.call_after(declared("Graph.add"), lambda *args: None)
    with pytest.raises(LookupError):
        module.Graph().add("mm")
    assert not reported


def test_an_exception_that_ends_the_program_passes(events: Events, module: Any):
    def interrupt(*args: Any) -> None:
        raise KeyboardInterrupt

    events.call_before(declared("Graph.add"), interrupt)
    with pytest.raises(KeyboardInterrupt):
        module.Graph().add("mm")


def test_a_name_is_wrapped_once_and_all_hear_in_the_declared_order(module: Any):
    heard: list[str] = []
    name = declared("Graph.add")
    purposes = {of: Events(HookFailures(pytest.fail, of)) for of in reversed(ORDER)}
    first, wrappers = vars(module.Graph)["add"], set()
    for of, each in purposes.items():
        each.call_before(name, lambda *args, of=of: heard.append(f"before {of}"))
        each.call_after(name, lambda *args, of=of: heard.append(f"after {of}"))
        each.call_around(name, lambda *args, of=of: of, lambda of, result, error: heard.append(f"{of}: {result}"))
        wrappers.add(module.Graph.add)
    assert len(wrappers) == 1 and module.Graph.add.__wrapped__ is first
    assert module.Graph().add("mm") == "mm "
    assert heard == [
        *("before debugging", "before documents", "before recording"),
        *("after recording", "after documents", "after debugging"),
        *("recording: mm ", "documents: mm ", "debugging: mm "),
    ]
    for each in purposes.values():
        assert vars(module.Graph)["add"] is not first
        each.remove()
    assert vars(module.Graph)["add"] is first


def test_what_two_want_called_is_called_once_and_last_before_the_call(module: Any):
    heard: list[str] = []
    name = declared("Graph.add")
    purposes = {of: Events(HookFailures(pytest.fail, of)) for of in ORDER}

    def begins(*args: Any) -> None:
        heard.append("both")

    def ends(*ending: Any) -> None:
        heard.append("end of both")

    for of, each in purposes.items():
        each.call_around(name, begins, ends)
        each.call_before(name, lambda *args, of=of: heard.append(of))
    module.Graph().add("mm")
    assert heard == ["debugging", "documents", "recording", "both", "end of both"]
    for each in purposes.values():
        each.remove()


def test_what_is_called_instead_is_around_what_others_hear(module: Any, events: Events):
    heard: list[str] = []
    name = declared("Graph.add")
    events.call_instead(name, lambda original, graph, node: original(graph, original(graph, node)))
    events.call_instead(name, lambda original, graph, node: original(graph, node.upper()))
    events.call_before(name, lambda graph, node: heard.append(node))
    assert module.Graph().add("mm") == "MM  " and heard == ["MM", "MM "]


def test_a_begin_has_its_end_whatever_happens_in_between(module: Any, events: Events):
    heard: list[Any] = []
    name = declared("Graph.add")

    def add(graph: Any, node: str) -> str:
        events.remove()
        raise LookupError(node)

    module.Graph.add = add
    events.call_after(name, heard.append)
    events.call_around(name, lambda graph, node: node, lambda node, result, error: heard.append((node, type(error))))
    with pytest.raises(LookupError) as raised:
        module.Graph().add("mm")
    assert heard == [("mm", LookupError)] and module.Graph.add is add
    assert [frame.name for frame in raised.traceback][1:] == ["add"], "no frame of ours is in it"


def test_who_comes_during_a_call_hears_of_the_next(module: Any, events: Events):
    heard: list[str] = []
    name = declared("Graph.add")
    later = Events(events.failures)
    events.call_before(name, lambda *args: later.call_after(name, lambda result, *args: heard.append(result)))
    module.Graph().add("mm")
    events.remove()
    assert heard == []
    module.Graph().add("mm")
    assert heard == ["mm "]
    later.remove()


def test_who_is_removed_while_another_hears_of_a_call_hears_no_more(module: Any, events: Events):
    heard: list[str] = []
    name = declared("Graph.add")
    events.call_before(name, lambda graph, node: heard.append(node))
    detaches = Events(events.failures)
    detaches.call_before(name, lambda *args: events.remove())
    module.Graph().add("mm")
    detaches.remove()
    assert not heard


def test_what_the_debugger_tries_is_no_event(module: Any, events: Events):
    heard: list[str] = []
    events.call_before(declared("Graph.add"), lambda graph, node: heard.append(node))
    with unobserved():
        assert module.Graph().add("mm") == "mm "
    assert not heard


def test_of_a_module_of_pythons_torch_gets_a_copy(module: Any, events: Events):
    vars(module)["gc"], heard = gc, []
    name = TorchName(MODULE, "gc", None, "2.0", (DATA_BREAKPOINTS,), member="collect")
    events.call_around(name, lambda *args: args, lambda given, result, error: heard.append((given, type(result))))
    module.gc.collect(0)
    gc.collect(0)
    assert module.gc is not gc and module.gc.get_count is gc.get_count and heard == [((0,), int)]
    events.remove()
    assert module.gc is gc


@pytest.mark.parametrize("is_removed", [False, True])
def test_names_of_a_module_that_is_imported_later_are_wrapped_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, events: Events, is_removed: bool
):
    later, heard = "a_later_module_of_torch", []
    (tmp_path / f"{later}.py").write_text("def lower(node):\n    return node\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, later, raising=False)
    monkeypatch.setattr(wrapping, "IMPORTED_LATER", {later})
    events.call_after(TorchName(later, "lower", "node", "2.0", (DATA_BREAKPOINTS,)), lambda _, node: heard.append(node))
    if is_removed:
        events.remove()
    assert importlib.import_module(later).lower("mm") == "mm"
    assert heard == ([] if is_removed else ["mm"])


@pytest.fixture
def torch_of(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes a torch of some version that has all names but some."""

    def make(version: str, *missing: str) -> None:
        torch = types.ModuleType("torch")
        vars(torch)["__version__"] = version
        monkeypatch.setitem(sys.modules, "torch", torch)
        monkeypatch.setattr(wrapping, "is_found", lambda name: name.name not in missing)

    return make


def test_a_torch_that_has_all_is_not_spoken_of(torch_of: Callable[..., None], monkeypatch: pytest.MonkeyPatch):
    torch_of("2.13.1+cpu")
    monkeypatch.setattr(wrapping, "TESTED_PYTHON", (PYTHON,))
    assert wrapping.warnings() == []
    assert not wrapping.missing_names(STOPS) and not wrapping.missing_names(RECORDING)


def test_a_missing_name_turns_off_what_it_serves_alone(torch_of: Callable[..., None], monkeypatch: pytest.MonkeyPatch):
    torch_of("2.13.0", "SideEffects.mutation", "OutputGraph.codegen_cells", "AutogradCompilerInstance.dce")
    monkeypatch.setattr(wrapping, "TESTED_PYTHON", (PYTHON,))
    assert wrapping.warnings() == [
        "torch 2.13 lacks torch._dynamo.output_graph.OutputGraph.codegen_cells, "
        "torch._dynamo.side_effects.SideEffects.mutation. Off because of that: the exception filter `codegen`, "
        "data breakpoints. The rest works."
    ]
    assert not wrapping.missing_names(STOPS) and not wrapping.missing_names(RECORDING)


def test_names_that_every_stop_needs_are_told_apart(torch_of: Callable[..., None]):
    torch_of("2.13.0", "OutputGraph.push_tx", "CheckFunctionManager.__init__")
    assert wrapping.missing_names(STOPS) == ["torch._dynamo.output_graph.OutputGraph.push_tx"]
    assert len(wrapping.missing_names(RECORDING)) == 2


def test_versions_that_were_not_tested_are_told(torch_of: Callable[..., None], monkeypatch: pytest.MonkeyPatch):
    torch_of("3.0.0")
    monkeypatch.setattr(wrapping, "TESTED_PYTHON", ("2.7",))
    torch, python = wrapping.warnings()
    assert torch == "torch 3.0 has not been tested; 2.11 to 2.15 have."
    assert python.startswith(f"Python {PYTHON} has not been tested")


def test_the_tested_versions_are_those_of_the_project():
    makefile, project = (ROOT / "Makefile").read_text(), (ROOT / "pyproject.toml").read_text()
    assert all(f"{version}.0" in makefile for version in wrapping.TESTED_TORCH)
    assert tuple(re.findall(r"Python :: (3\.\d+)", project)) == wrapping.TESTED_PYTHON


def test_each_name_is_declared_once():
    names = [str(name) for name in all_names()]
    assert len(names) == len(set(names))


def test_the_page_says_what_is_declared():
    assert wrapped_names.PAGE.read_text() == wrapped_names.page(), "run `make wrapped-names`"
