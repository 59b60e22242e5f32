"""Knows: names, scopes, loops and simple data flow of one script. Must not know: what is good or bad in it.

Names are followed as a reader would: through imports, through assignments, and from a call to the parameters of a
function of the same file. Whatever is not plain stays unknown; the checks then say nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Final

from gpumon_gui.diagnosis.script.reader import Script

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS: Final = (ast.For, ast.AsyncFor, ast.While)
SCOPES: Final = (*FUNCTIONS, ast.ClassDef, ast.Lambda)
#: For a value that the script does not fix.
UNKNOWN: Final = object()


class Code:
    """Questions about one script's tree. Lines count from 1."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.tree = script.tree
        self.parents: dict[ast.AST, ast.AST] = {}
        self.nodes: list[ast.AST] = []  # in source order
        stack: list[ast.AST] = [self.tree]
        while stack:
            node = stack.pop()
            self.nodes.append(node)
            children = list(ast.iter_child_nodes(node))
            for child in children:
                self.parents[child] = node
            stack.extend(reversed(children))
        self.calls = [node for node in self.nodes if isinstance(node, ast.Call)]
        self._values: dict[str, Any] = {}
        self._called: dict[ast.Call, str] = {}
        self._scopes: dict[ast.AST, ast.AST] = {}
        self.functions = {node.name: node for node in self.nodes if isinstance(node, FUNCTIONS)}
        self.classes = {node.name: node for node in self.nodes if isinstance(node, ast.ClassDef)}

    # -- names ----------------------------------------------------------------------------------------------------

    @cached_property
    def imports(self) -> dict[str, str]:
        """The name in the script → what it stands for (``nn`` → ``torch.nn``)."""
        found: dict[str, str] = {}
        for node in self.nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    root = alias.name.partition(".")[0]
                    found[alias.asname or root] = alias.name if alias.asname else root
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for alias in node.names:
                    found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        # and "layers = tf.keras.layers", with what it stands for
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
                root, _dot, rest = plain_name(node.value).partition(".")
                if root in found:
                    found |= {
                        target.id: f"{found[root]}.{rest}" for target in node.targets if isinstance(target, ast.Name)
                    }
        return found

    @cached_property
    def _stars(self) -> tuple[str, ...]:
        """Modules of which everything is imported."""
        return tuple(
            node.module
            for node in self.nodes
            if isinstance(node, ast.ImportFrom) and node.module and any(alias.name == "*" for alias in node.names)
        )

    def _imported(self, name: str) -> str:
        """What a name stands for; after ``import *`` a class that is defined nowhere is taken to come from there."""
        if name in self.imports or not self._stars or not name[:1].isupper():
            return self.imports.get(name, name)
        if name in self.classes or name in self.functions or name in self.assigned:
            return name
        wanted = "utils.data" if name.endswith("Loader") else "layers"
        module = next((star for star in self._stars if star.endswith(wanted)), self._stars[0])
        return f"{module}.{name}"

    @cached_property
    def packages(self) -> frozenset[str]:
        """The first parts of everything that is imported (``torch``)."""
        found = set()
        for node in self.nodes:
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
        return frozenset(found)

    def name(self, node: ast.AST | None) -> str:
        """``self.device``, ``torch.nn.LSTM``: a dotted name with imports resolved; empty for any other expression."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        parts.append(self._imported(node.id))
        return ".".join(reversed(parts))

    def called(self, call: ast.Call) -> str:
        """The dotted name of what is called; for a method of an expression ``?.method``."""
        if call not in self._called:
            self._called[call] = self._name_called(call)
        return self._called[call]

    def _name_called(self, call: ast.Call) -> str:
        found = self.name(call.func)
        if not found and isinstance(call.func, ast.Attribute):
            return f"?.{call.func.attr}"
        return found

    def method(self, call: ast.Call) -> str:
        """The last part of what is called."""
        return self.called(call).rpartition(".")[2]

    @cached_property
    def methods(self) -> dict[str, list[ast.Call]]:
        """The last part of what is called → the calls."""
        found: dict[str, list[ast.Call]] = {}
        for call in self.calls:
            found.setdefault(self.method(call), []).append(call)
        return found

    # -- places ---------------------------------------------------------------------------------------------------

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, from the inside out."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def scope(self, node: ast.AST) -> ast.AST:
        """The function or the module that a node runs in (class bodies run where they stand)."""
        if node not in self._scopes:
            around = (up for up in self.above(node) if isinstance(up, (*FUNCTIONS, ast.Lambda)))
            self._scopes[node] = next(around, self.tree)
        return self._scopes[node]

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """The statement that a node belongs to."""
        if isinstance(node, ast.stmt):
            return node
        return next((up for up in self.above(node) if isinstance(up, ast.stmt)), None)

    def is_main_guard(self, node: ast.AST) -> bool:
        """``if __name__ == "__main__":``."""
        return isinstance(node, ast.If) and any(
            isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(node.test)
        )

    def conditions(self, node: ast.AST, within: ast.AST | None = None) -> list[ast.AST]:
        """The ``if`` (and ``except``, ``case``, ``and``/``or``) blocks that decide whether a node runs, out to
        ``within`` or its function. The condition itself always runs."""
        found: list[ast.AST] = []
        child: ast.AST = node
        for up in self.above(node):
            if up is within or isinstance(up, SCOPES):
                break
            decides = isinstance(up, ast.ExceptHandler | ast.match_case) or (
                isinstance(up, ast.If | ast.IfExp) and child is not up.test and not self.is_main_guard(up)
            )
            if decides or (isinstance(up, ast.BoolOp) and child is not up.values[0]):
                found.append(up)
            child = up
        return found

    def inside(self, node: ast.AST, *, functions: bool = False) -> Iterator[ast.AST]:
        """The nodes below a node that run with it; bodies of functions defined there only on demand."""
        stack = list(reversed(list(ast.iter_child_nodes(node))))
        while stack:
            below = stack.pop()
            yield below
            if functions or not isinstance(below, SCOPES):
                stack.extend(reversed(list(ast.iter_child_nodes(below))))

    def calls_inside(self, node: ast.AST, *, functions: bool = False) -> Iterator[ast.Call]:
        """The calls below a node."""
        return (below for below in self.inside(node, functions=functions) if isinstance(below, ast.Call))

    def loops_around(self, node: ast.AST) -> list[ast.AST]:
        """The loops around a node within its function, the innermost first."""
        found: list[ast.AST] = []
        child: ast.AST = node
        for up in self.above(node):
            if isinstance(up, SCOPES):
                break
            if isinstance(up, LOOPS) and child is not getattr(up, "iter", None) and child not in up.orelse:
                found.append(up)
            child = up
        return found

    def withs_around(self, node: ast.AST) -> Iterator[ast.expr]:
        """The context managers that a node runs under, decorators of its functions included."""
        for up in self.above(node):
            if isinstance(up, ast.With | ast.AsyncWith):
                yield from (item.context_expr for item in up.items)
            elif isinstance(up, FUNCTIONS):
                yield from up.decorator_list

    # -- values ---------------------------------------------------------------------------------------------------

    @cached_property
    def assigned(self) -> dict[str, list[tuple[ast.expr, ast.AST]]]:
        """Each name (``x``, ``self.x``) → the values it is given, with the assigning node. ``a, b = x, y`` counts for
        both; a part of an unpacked value counts as unknown (an ``ast.Starred``)."""
        found: dict[str, list[tuple[ast.expr, ast.AST]]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self._bind(target, node.value, node, found)
            elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr) and node.value is not None:
                value = node.value if not isinstance(node, ast.AugAssign) else ast.Starred(node.value, ast.Load())
                self._bind(node.target, value, node, found)
        return found

    def _bind(
        self, target: ast.AST, value: ast.expr, node: ast.AST, found: dict[str, list[tuple[ast.expr, ast.AST]]]
    ) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            values: Sequence[ast.expr]
            if isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
                values = value.elts
            else:
                values = [ast.Starred(value, ast.Load())] * len(target.elts)
            for part, own in zip(target.elts, values, strict=True):
                self._bind(part, own, node, found)
            return
        name = plain_name(target)
        if name:
            found.setdefault(name, []).append((value, node))

    @cached_property
    def _bound_otherwise(self) -> frozenset[str]:
        """Parameters, loop targets and the like: names whose value the assignments do not tell."""
        found: set[str] = set()
        for node in self.nodes:
            if isinstance(node, ast.arg):
                found.add(node.arg)
            elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
                found |= set(names_in(node.target))
            elif isinstance(node, ast.withitem) and node.optional_vars is not None:
                found |= set(names_in(node.optional_vars))
        return frozenset(found)

    def value(self, node: ast.expr | None) -> Any:
        """A constant, also through a name that is only ever given that one; else :data:`UNKNOWN`."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
            inner = node.operand.value
            return -inner if isinstance(inner, int | float) else UNKNOWN
        name = plain_name(node)
        if not name or name in self._bound_otherwise:
            return UNKNOWN
        if name not in self._values:
            self._values[name] = UNKNOWN  # for names that lead back to themselves
            values = [self.value(value) for value, _node in self.assigned.get(name, [])]
            if values and all(value is not UNKNOWN and value == values[0] for value in values):
                self._values[name] = values[0]
        return self._values[name]

    def made_by(self, node: ast.expr | None) -> list[ast.expr]:
        """The expressions that a name can stand for (itself when it is no name)."""
        found: list[ast.expr] = []
        seen: set[str] = set()
        left = [node] if node is not None else []
        while left:
            one = left.pop()
            name = plain_name(one)
            if not name:
                found.append(one)
            elif name not in seen:
                seen.add(name)
                left += [value for value, _node in reversed(self._given(name, one))]
        return found

    def _given(self, name: str, where: ast.AST) -> list[tuple[ast.expr, ast.AST]]:
        """The assignments that a name can mean at a place: those of its own function, else all of them."""
        everywhere = self.assigned.get(name, [])
        if where not in self.parents or len(everywhere) < 2:
            return everywhere
        scope = self.scope(where)
        own = [(value, node) for value, node in everywhere if self.scope(node) is scope]
        return own or everywhere

    def keyword(self, call: ast.Call, name: str, position: int | None = None) -> ast.expr | None:
        """An argument by name, else by position, else from a ``**`` of a plain dict; None when it is not given."""
        for keyword in call.keywords:
            if keyword.arg == name:
                return keyword.value
        if position is not None and len(call.args) > position:
            return call.args[position] if not any(isinstance(a, ast.Starred) for a in call.args) else None
        for keyword in call.keywords:
            if keyword.arg is None:
                for entry in self.entries(keyword.value):
                    if isinstance(entry[0], str) and entry[0] == name:
                        return entry[1]
        return None

    def entries(self, node: ast.expr) -> list[tuple[str, ast.expr]]:
        """What a plain dict holds, ``d.update(…)`` and ``d["key"] = …`` included."""
        found: list[tuple[str, ast.expr]] = []
        for made in self.made_by(node):
            found += self._dict(made)
        name = plain_name(node)
        for call in self.methods.get("update", []) if name else ():
            if isinstance(call.func, ast.Attribute) and plain_name(call.func.value) == name:
                for argument in call.args[:1]:
                    for made in self.made_by(argument):
                        found += self._dict(made)
                found += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg]
        for target, value in self._entries_set.get(name, []):
            key = self.value(target.slice)
            if isinstance(key, str):
                found.append((key, value))
        return found

    @cached_property
    def _entries_set(self) -> dict[str, list[tuple[ast.Subscript, ast.expr]]]:
        """``d["key"] = …`` by the name of the dict."""
        found: dict[str, list[tuple[ast.Subscript, ast.expr]]] = {}
        for node in self.nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Subscript) and (name := plain_name(target.value)):
                        found.setdefault(name, []).append((target, node.value))
        return found

    def _dict(self, made: ast.expr) -> list[tuple[str, ast.expr]]:
        if isinstance(made, ast.Dict):
            return [
                (key.value, value)
                for key, value in zip(made.keys, made.values, strict=True)
                if isinstance(key, ast.Constant) and isinstance(key.value, str)
            ]
        if isinstance(made, ast.Call) and self.called(made) == "dict":
            return [(keyword.arg, keyword.value) for keyword in made.keywords if keyword.arg]
        return []

    def has_unknown_keywords(self, call: ast.Call) -> bool:
        """Whether a ``**`` may hold any argument."""
        return any(keyword.arg is None and not self._is_plain(keyword.value) for keyword in call.keywords)

    def _is_plain(self, node: ast.expr) -> bool:
        made = self.made_by(node)
        return bool(made) and all(
            isinstance(one, ast.Dict) or (isinstance(one, ast.Call) and self.called(one) == "dict") for one in made
        )

    # -- what runs ------------------------------------------------------------------------------------------------

    def function_of(self, call: ast.Call) -> Function | None:
        """The function of this file that a call runs (``f(…)``, ``self.f(…)``)."""
        name = plain_name(call.func)
        if name.startswith("self."):
            name = name.removeprefix("self.")
        return self.functions.get(name) if name and "." not in name else None

    @cached_property
    def _callers(self) -> dict[ast.AST, list[ast.Call]]:
        found: dict[ast.AST, list[ast.Call]] = {}
        for call in self.calls:
            function = self.function_of(call)
            if function is not None:
                found.setdefault(function, []).append(call)
        return found

    def callers(self, function: ast.AST) -> list[ast.Call]:
        """The calls that run a function of this file."""
        return self._callers.get(function, [])

    def reached(self, start: ast.AST, depth: int = 3) -> Iterator[ast.AST]:
        """The nodes that run with ``start``: below it, and in the functions of this file that it calls."""
        seen: set[ast.AST] = set()
        level = [start]
        for _ in range(depth):
            following: list[ast.AST] = []
            for part in level:
                if part in seen:
                    continue
                seen.add(part)
                for node in self.inside(part):
                    yield node
                    if isinstance(node, ast.Call):
                        function = self.function_of(node)
                        if function is not None:
                            following.append(function)
            level = following


def plain_name(node: ast.AST | None) -> str:
    """``x`` or ``self.x``, without imports resolved; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join(reversed([*parts, node.id]))


def root_name(node: ast.AST | None) -> str:
    """The name that an expression of attributes, calls and subscripts begins with: ``loss`` of
    ``loss.mean().item()``."""
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def names_in(node: ast.AST) -> list[str]:
    """The plain names anywhere below."""
    return [below.id for below in ast.walk(node) if isinstance(below, ast.Name)]
