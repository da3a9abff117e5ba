"""Evaluate attributes of tensors, layers and objects whose class is in the workspace."""

from __future__ import annotations

import ast
from abc import abstractmethod

from dynascope_lsp.documents.syntax import FunctionNode, dotted
from dynascope_lsp.prediction.calls import Calls
from dynascope_lsp.prediction.modules import ClassInfo
from dynascope_lsp.prediction.tables.torch_names import (
    DISABLING,
    LAYER_TENSORS,
    TENSOR_ATTRIBUTES,
    TENSOR_CLASS,
    is_layer,
    usual_name,
)
from dynascope_lsp.prediction.values import (
    DISABLED,
    LOGGER,
    MAYBE_TENSOR,
    OTHER,
    TENSOR,
    TENSORS,
    UNKNOWN,
    Class,
    Constant,
    Function,
    Instance,
    ModuleValue,
    Named,
    Several,
    Tensor,
    Value,
    is_tensor,
    maybe_tensor,
    merged,
)


class Attributes(Calls):
    """The part of a frame that evaluates attributes."""

    @abstractmethod
    def _value_of_attribute(
        self, owner: Instance, info: ClassInfo, value: ast.expr, method: FunctionNode | None
    ) -> Value:
        """Evaluate what a method assigns to an attribute."""

    def _attribute(self, node: ast.Attribute) -> Value:
        owner = self.evaluate(node.value)
        match owner:
            case Named(name):
                if name.endswith("()") and is_layer(name[:-2]) and node.attr in LAYER_TENSORS:
                    return TENSOR
                return Named(usual_name(f"{name}.{node.attr}"))
            case ModuleValue(module):
                return self._program.global_value(module, node.attr)
            case Instance(info):
                return self._attribute_of(owner, info, node.attr)
            case Class(info):
                return self._program.method(info, node.attr) or UNKNOWN
            case Tensor():
                return owner if node.attr in TENSOR_ATTRIBUTES else OTHER
        if owner == TENSORS and node.attr in ("values", "indices"):
            return TENSOR
        return MAYBE_TENSOR if maybe_tensor(owner) and node.attr in TENSOR_ATTRIBUTES else UNKNOWN

    def _attribute_of(self, owner: Instance, info: ClassInfo, name: str) -> Value:
        for each in self._program.bases(info):
            if name in each.buffers:
                missing = isinstance(each.buffers[name], ast.Constant)
                return UNKNOWN if missing else TENSOR
        if self._program.set_outside(name) or (not owner.exact and self._program.overridden(info, name)):
            return UNKNOWN
        found = self._program.method(info, name)
        if found is not None:
            return self._method_of(owner, info, name, found)
        for each in self._program.bases(info):
            if name in each.attributes:
                return self._assigned_to(owner, each, name)
            if name in each.annotations:
                return (owner.given or {}).get(name) or self._annotated(each, name)
        return self._program.training() if name == "training" and info.node.bases else UNKNOWN

    def _method_of(self, owner: Instance, info: ClassInfo, name: str, found: Function) -> Value:
        replaced = self._replaced(info, name)
        if replaced is not None:
            return replaced
        assert not isinstance(found.node, ast.Lambda)
        if any(dotted(each) in ("property", "functools.cached_property") for each in found.node.decorator_list):
            method = Function(found.module, found.node, found.owner, owner)
            return self._program.call(method, [], {}, certain=self._certain, depth=self._depth + 1)
        bound = None if any(dotted(each) == "staticmethod" for each in found.node.decorator_list) else owner
        return self._program.decorated(Function(found.module, found.node, found.owner, bound))

    def _assigned_to(self, owner: Instance, info: ClassInfo, name: str) -> Value:
        """Evaluate an attribute by all values that are assigned to it."""
        places = info.attributes[name]
        if any(method is None for _, method in places) and (info.node.decorator_list or info.node.bases):
            return UNKNOWN  # only a default, such as that of a dataclass field
        key = (id(info), name)
        if key in self._program.attributes_met:
            return self._program.attributes_met[key]  # its value depends on itself
        values: list[Value] = []
        self._program.attributes_met[key] = UNKNOWN
        for value, method in places:
            if value is None:
                values.append(values[0] if values and is_tensor(values[0]) else UNKNOWN)
                continue
            values.append(self._value_of_attribute(owner, info, value, method))
            self._program.attributes_met[key] = values[0]
        del self._program.attributes_met[key]
        result = merged(*values)
        known = isinstance(result, Instance | Several | Named | Function | Constant | Tensor) or result == LOGGER
        return result if known or maybe_tensor(result) else UNKNOWN

    def _annotated(self, info: ClassInfo, name: str) -> Value:
        """Return a tensor for a field annotated as `torch.Tensor`, or else unknown."""
        annotated = dotted(info.annotations[name])
        return (
            TENSOR
            if annotated and self._program.name_of(info.module, info.annotations[name]) == TENSOR_CLASS
            else UNKNOWN
        )

    def _replaced(self, info: ClassInfo, name: str) -> Value | None:
        """Return the value that replaces a method by assignment, or None.

        For example `self.step = torch.compiler.disable(self.step)`.
        """
        for each in self._program.bases(info):
            for value, method in each.attributes.get(name, ()):
                if method is None:
                    continue
                called = self._program.name_of(each.module, value.func) if isinstance(value, ast.Call) else None
                if called in DISABLING:
                    return DISABLED
                if called != "torch.compile":
                    return UNKNOWN
        return None
