"""Writes `operations.py` of the package at the given path: a method for each operation that the generator made a module of.

The generator's functions return a success, an error or None. A method returns the success alone: errors are exceptions.
A file is bytes, and a list has an iterator beside it.
"""

import ast
import pathlib
import re
import sys

#: A dry run and an unchanged record have bodies that the types of the response do not describe.
LEFT_OUT = {"dry_run", "if_none_match"}
#: The cursors are what an iterator is for.
CURSORS = {"after", "offset"}

package = pathlib.Path(sys.argv[1])
imports: set[str] = set()
methods: list[str] = []


def snake(name: str) -> str:
    """Returns the name of the module that the generator keeps a model in."""
    return re.search(rf"^from \.(\w+) import {name}$", models_index, re.M)[1]


def arguments_of(function: ast.FunctionDef, left_out: set[str]) -> str:
    """Returns the arguments of the call. The generator would send the default of one that is absent."""
    names = [arg.arg for arg in [*function.args.args, *function.args.kwonlyargs]]
    return ", ".join(f"{name}={'UNSET' if name in left_out else name}" for name in names)


def signature_of(function: ast.FunctionDef, left_out: set[str]) -> str:
    """Returns the parameters; the gateway has the defaults."""
    positional = [f"{arg.arg}: {ast.unparse(arg.annotation)}" for arg in function.args.args]
    named = [
        f"{arg.arg}: {ast.unparse(arg.annotation)}{'' if default is None else ' = UNSET'}"
        for arg, default in zip(function.args.kwonlyargs, function.args.kw_defaults)
        if arg.arg not in left_out
    ]
    return ", ".join(["self", *positional, *(["*", *named] if named else [])])


def lists_of(model: str) -> tuple[str, str]:
    """Returns the path from a page to its records, and their type."""
    source = (package / "models" / f"{snake(model)}.py").read_text()
    field = re.search(r"^    data: (?:list\[(\w+)\]|(\w+))$", source, re.M)
    if field[1]:
        return "data", field[1]
    inner = (package / "models" / f"{snake(field[2])}.py").read_text()
    name, item = re.search(r"^    (\w+): list\[(\w+)\]$", inner, re.M).groups()
    return f"data.{name}", item


def add(path: pathlib.Path) -> None:
    source = path.read_text()
    functions = {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}
    build = functions["_get_kwargs"]
    successes = re.findall(r"status_code == 2\d\d:\n\s+response_2\d\d = (\w+)(?:\.from_dict)?\(", source)
    if len(successes) != 1:
        raise SystemExit(f"{path} has {len(successes)} successes, not one")
    [success] = successes
    used = {node.id for node in ast.walk(build.args) if isinstance(node, ast.Name)}
    for node in ast.parse(source).body:
        names = [alias.name for alias in getattr(node, "names", []) if alias.name in used]
        if isinstance(node, ast.ImportFrom) and names and (node.module or "").startswith("models."):
            imports.update(f"from .{node.module} import {name}" for name in names)
    what = ast.get_docstring(functions["sync"]).split("\n\nArgs:\n")[0].split("\n\nRaises:\n")[0]
    what = re.sub(r"\n *With `dry_run=true`.*?(?=\n\n|$)", "", what, flags=re.S)
    what = re.sub(r"\n +", "\n", what).replace("\n", "\n        ").replace("\\", "\\\\")
    what = re.sub(r"\n +(?=\n)", "\n", what)
    fetch = f"        from .api.{path.parent.name} import {path.stem} as operation\n"
    if success == "File":
        methods.append(
            f'    def {path.stem}({signature_of(build, LEFT_OUT)}) -> bytes:\n        """{what}"""\n{fetch}'
            f"        return self._call(operation._get_kwargs({arguments_of(build, LEFT_OUT)})).content\n"
        )
        return
    imports.add(f"from .models.{snake(success)} import {success}")
    fetch += f"        from .models.{snake(success)} import {success}\n"
    methods.append(
        f'    def {path.stem}({signature_of(build, LEFT_OUT)}) -> {success}:\n        """{what}"""\n{fetch}'
        f"        return {success}.from_dict(self._call(operation._get_kwargs({arguments_of(build, LEFT_OUT)})).json())\n"
    )
    if any(arg.arg == "after" for arg in build.args.kwonlyargs):
        records, item = lists_of(success)
        imports.add(f"from .models.{snake(item)} import {item}")
        left_out = LEFT_OUT | CURSORS
        name = f"iter_{path.stem.split('_', 1)[1]}"
        methods.append(
            f"    def {name}({signature_of(build, left_out)}) -> Iterator[{item}]:\n"
            f'        """Follows the cursors of `{path.stem}`: no record repeats or is skipped."""\n{fetch}'
            f"        request = operation._get_kwargs({arguments_of(build, left_out)})\n"
            f"        return self._iterate(request, lambda page: {success}.from_dict(page).{records})\n"
        )


models_index = (package / "models/__init__.py").read_text()
for module in sorted(package.glob("api/*/*.py")):
    if module.stem != "__init__":
        add(module)

head = '''"""One method for each operation. Made by `npm run client:pypi`; do not change it by hand."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from uuid import UUID

import httpx

from .types import UNSET, Unset

if TYPE_CHECKING:
'''
base = '''
class Operations:
    """The operations of the API, by their names in the reference. A connection says how a request is sent."""

    def _call(self, request: dict[str, Any]) -> httpx.Response:
        raise NotImplementedError

    def _iterate(self, request: dict[str, Any], items: Callable[[Any], list[Any]]) -> Iterator[Any]:
        raise NotImplementedError

'''
indented = "".join(f"    {line}\n" for line in sorted(imports))
(package / "operations.py").write_text(f"{head}{indented}\n{base}{chr(10).join(methods)}")
