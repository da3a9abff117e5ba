"""Put imported modules out of `sys.modules`, and back when a program imports them."""

from __future__ import annotations

import builtins
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Iterator, Sequence
from types import CodeType, ModuleType
from typing import Any


class Recorder(importlib.abc.MetaPathFinder):
    """The first finder: notes which modules each import has brought with it, and which each module asks for."""

    def __init__(self) -> None:
        self.brought: dict[str, list[str]] = {}
        self._asked: dict[str, list[str]] = {}
        self._finding: set[str] = set()
        self._import = builtins.__import__

    def __enter__(self) -> Recorder:
        sys.meta_path.insert(0, self)
        builtins.__import__ = self._note
        return self

    def __exit__(self, *exception: object) -> None:
        builtins.__import__ = self._import
        sys.meta_path.remove(self)
        for name, asked in self._asked.items():
            self.brought.setdefault(name, []).extend(each for each in dict.fromkeys(asked) if each in sys.modules)

    def _note(
        self, name: str, globals: Any = None, locals: Any = None, fromlist: Sequence[str] | None = (), level: int = 0
    ) -> Any:
        """Import a module, and note which module needs it, also if another has imported it before."""
        imported = self._import(name, globals, locals, fromlist, level)
        importer = globals and globals.get("__name__")
        if importer and sys._getframe(1).f_code.co_name == "<module>":
            base = importlib.util.resolve_name("." * level + name, globals.get("__package__")) if level else name
            self._asked.setdefault(importer, []).extend([base, *(f"{base}.{each}" for each in fromlist or ())])
        return imported

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name in self._finding:
            return None
        self._finding.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._finding.discard(name)
        if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
            return spec
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            before = len(sys.modules)
            execute(module)
            self.brought[name] = list(sys.modules)[before:]

        try:
            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        except AttributeError:
            pass  # the loader of built-in modules is a class
        return spec


class PutAway(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The modules that are put away; a program's import finds them here."""

    def __init__(self, modules: dict[str, ModuleType], brought: dict[str, list[str]]) -> None:
        self._modules = modules
        self._brought = brought
        self._specs = {name: module.__spec__ for name, module in modules.items()}
        self._attributes = dict(_renamed(modules))
        self._depth = 0
        for name, module in modules.items():  # else `from package import module` would find it there
            package, _, child = name.rpartition(".")
            if (
                package.partition(".")[0] != "torch"
                and package in modules
                and vars(modules[package]).get(child) is module
            ):
                del vars(modules[package])[child]

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name not in self._modules:
            return None
        # a loader for each: hooks replace a loader's `exec_module`
        spec = self._specs[name]
        return importlib.machinery.ModuleSpec(
            name,
            Restored(self, name),
            origin=spec and spec.origin,
            is_package=hasattr(self._modules[name], "__path__"),
        )

    def _bring(self, name: str) -> None:
        """Do what an import does, without its locks and specs: they take longer than all the rest."""
        package, _, child = name.rpartition(".")
        if package and package not in sys.modules:
            importlib.import_module(package)
        if name in sys.modules:
            return
        spec = self._spec_of_another_finder(name)
        module = sys.modules[name] = importlib.util.module_from_spec(spec) if spec else self.restore(name)
        if name not in self._brought:
            return  # a module that code has put into `sys.modules`
        if spec and spec.loader:
            spec.loader.exec_module(module)
        else:
            self.finish(module, name)
        if package:
            setattr(sys.modules[package], child, module)

    def _spec_of_another_finder(self, name: str) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of a finder that waits for a module before this one."""
        for finder in sys.meta_path[: sys.meta_path.index(self)]:
            if (spec := finder.find_spec(name, None)) is not None:
                return spec
        return None

    def restore(self, name: str) -> ModuleType:
        return self._modules.pop(name)

    def code(self, name: str) -> CodeType | None:
        spec = self._specs[name]
        assert spec is not None and isinstance(spec.loader, importlib.abc.InspectLoader)
        return spec.loader.get_code(name)

    def finish(self, module: ModuleType, name: str) -> None:
        """Bring what the module's import has brought, too, each through the finders that wait for it."""
        vars(module)["__spec__"] = self._specs[name]  # some modules refuse to be assigned to
        self._depth += 1
        for other in self._brought.get(name, ()):
            if other not in sys.modules and other in self._modules:
                self._bring(other)
        self._depth -= 1
        for (package, child), value in () if self._depth else self._attributes.items():
            if package in sys.modules:  # the import has given the name to the module
                vars(sys.modules[package])[child] = value
        if name == "torch":
            _read_environment(module)


class Restored(importlib.abc.Loader):
    """The loader of one module that was put away."""

    def __init__(self, put_away: PutAway, name: str) -> None:
        self._put_away, self._name = put_away, name

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return self._put_away.restore(self._name)

    def exec_module(self, module: ModuleType) -> None:
        self._put_away.finish(module, self._name)

    def get_code(self, name: str) -> CodeType | None:
        """Return what `python -m` executes anew, as `__main__`."""
        return self._put_away.code(name)


def _renamed(modules: dict[str, ModuleType]) -> Iterator[tuple[tuple[str, str], object]]:
    """Yield what packages have under the name of a module that they have imported, where it is something else."""
    for name, module in modules.items():
        package, _, child = name.rpartition(".")
        value = vars(modules[package]).get(child, module) if package in modules else module
        if value is not module:
            yield (package, child), value


def _read_environment(torch: ModuleType) -> None:
    """Do what the import of torch does with the variables of the environment that sitecustomize.py lets through."""
    if any(variable.startswith("TORCH_LOGS") for variable in os.environ):
        torch._logging._init_logs()
    if trace := os.environ.get("TORCH_TRACE"):
        torch._logging._internal.LOG_TRACE_HANDLER.root_dir = trace
    if threads := os.environ.get("OMP_NUM_THREADS"):
        torch.set_num_threads(int(threads))
    if torch._is_device_backend_autoload_enabled():
        torch._import_device_backends()
