"""The files of the repository as the tidiness rules look at them."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE_ROOTS = ("proto", "engine", "services", "loadtest")
GENERATED = re.compile(
    r"_pb2(_grpc)?\.pyi?$|^engine/majlis/engine/vocabulary/|^services/majlis/gateway/web/dist/"
)


@dataclass(frozen=True)
class File:
    """A file of the repository, by its path from the root."""

    path: str

    @property
    def text(self) -> str:
        """Empty where the file is not text."""
        try:
            return (ROOT / self.path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            return ""

    @property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, self.path)

    @property
    def package(self) -> str:
        """`lobby` for services/majlis/lobby/...; empty outside the namespace."""
        parts = Path(self.path).parts
        return parts[2].removesuffix(".py") if parts[0] in SOURCE_ROOTS and parts[1:2] == ("majlis",) else ""


@cache
def files() -> tuple[File, ...]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return tuple(File(path) for path in sorted(set(listed.split("\0")) - {""}) if (ROOT / path).is_file())


def python_files(*, generated: bool = False) -> list[File]:
    return [
        file
        for file in files()
        if file.path.endswith(".py") and (generated or not GENERATED.search(file.path))
    ]


def engine_files() -> list[File]:
    return [file for file in python_files() if file.package == "engine"]


def imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and full name of everything imported, anywhere in the module, for types too; not from the same package."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level != 1:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, int]]:
    """Qualified name and length of each function, without its docstring and decorators."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + node.name, _code_lines(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from functions(node, f"{prefix}{node.name}.")
        else:
            yield from functions(node, prefix)


def _code_lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    if ast.get_docstring(node) is not None:
        docstring = node.body[0]
        lines -= (docstring.end_lineno or docstring.lineno) - docstring.lineno + 1
    return lines
