"""House rules that a program can check. The two ratchets may only tighten: lower or remove an entry, never raise one.

Looks at every file that git tracks or would track, so a new file is judged before it is committed.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.sources import (
    GENERATED,
    ROOT,
    SOURCE_ROOTS,
    File,
    engine_files,
    files,
    functions,
    imports,
    python_files,
)

FILE_LINES = 300
FUNCTION_LINES = 40
KILOBYTES = 512
SLACK = 10
"""A ratchet entry that is this much too generous has to be lowered."""

LONG_FILES: dict[str, int] = {}
LONG_FUNCTIONS: dict[str, int] = {}
"""`path:qualified.name` -> lines without the docstring."""

SERVICES = frozenset({"lobby", "table", "rating", "gateway", "computer", "archive"})
BASE = frozenset({"chassis", "engine", "v1"})
MAY_IMPORT: dict[str, frozenset[str]] = {
    "v1": frozenset(),
    "engine": frozenset(),
    "chassis": frozenset({"engine", "v1"}),
    **dict.fromkeys(SERVICES, BASE),
    "loadtest": BASE,
    "cli": BASE | {"loadtest"},
}
"""Package of majlis -> the other packages of majlis that it may import."""

ENGINE_MAY_IMPORT = frozenset(
    "__future__ abc base64 binascii bisect collections contextlib copy cryptography dataclasses enum fractions "
    "functools hashlib heapq hmac importlib itertools json majlis math msgspec operator openskill re statistics string "
    "struct types typing unicodedata yaml zlib".split()
)
"""Whatever is not here has a clock, chance, I/O or state, or has not been thought about."""
ENGINE_MUST_NOT_CALL = {
    "open": "I/O",
    "print": "I/O",
    "input": "I/O",
    "breakpoint": "I/O",
    "eval": "runs text",
    "exec": "runs text",
    "hash": "differs between processes",
    "id": "differs between processes",
}


# --- the rules: each yields its complaints --------------------------------------------------------------------------

Rule = Callable[[], Iterator[str]]
RULES: dict[str, Rule] = {}


def rule(check: Rule) -> Rule:
    RULES[check.__name__] = check
    return check


@rule
def the_engine_imports_only_what_is_pure() -> Iterator[str]:
    for file in engine_files():
        for line, name in imports(file.tree):
            if name.split(".")[0] not in ENGINE_MAY_IMPORT:
                yield f"{file.path}:{line} imports {name}"


@rule
def the_engine_calls_nothing_impure() -> Iterator[str]:
    for file in engine_files():
        for node in ast.walk(file.tree):
            if isinstance(node, ast.Global):
                yield f"{file.path}:{node.lineno} `global`: state outside the state"
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                why = ENGINE_MUST_NOT_CALL.get(node.func.id)
                if why:
                    yield f"{file.path}:{node.lineno} calls {node.func.id}: {why}"


@rule
def whatever_is_public_in_the_engine_says_what_it_is() -> Iterator[str]:
    for file in engine_files():
        tree = file.tree
        if not ast.get_docstring(tree) and tree.body:
            yield f"{file.path} has no docstring"
        for node in tree.body:
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            if not node.name.startswith("_") and not ast.get_docstring(node):
                yield f"{file.path}:{node.lineno} {node.name} has no docstring"


@rule
def imports_go_one_way() -> Iterator[str]:
    for file in python_files(generated=True):
        if not file.package:
            continue
        allowed = MAY_IMPORT.get(file.package)
        if allowed is None:
            yield f"{file.path}: the package {file.package} has no entry in MAY_IMPORT"
            continue
        if file.path.startswith("engine/majlis/engine/vocabulary/"):
            allowed = frozenset({"v1"})  # the only place that knows both
        for line, name in imports(file.tree):
            target = (name + ".").split(".")[1] if name.startswith("majlis.") else ""
            if target and target not in allowed | {file.package}:
                yield f"{file.path}:{line} imports {name}"


@rule
def the_namespace_is_shared() -> Iterator[str]:
    for root in SOURCE_ROOTS:
        if (ROOT / root / "majlis/__init__.py").exists():
            yield f"{root}/majlis/__init__.py would hide the other source roots"
    for file in python_files():
        parts = Path(file.path).parts
        if parts[0] in SOURCE_ROOTS[1:] and parts[1] != "majlis":
            yield f"{file.path} lies outside the namespace"


@rule
def files_fit_in_a_head() -> Iterator[str]:
    lengths = {file.path: len(file.text.splitlines()) for file in python_files()}
    yield from ratchet("LONG_FILES", lengths, LONG_FILES, FILE_LINES)


@rule
def functions_fit_on_a_screen() -> Iterator[str]:
    lengths = {
        f"{file.path}:{name}": lines for file in python_files() for name, lines in functions(file.tree)
    }
    yield from ratchet("LONG_FUNCTIONS", lengths, LONG_FUNCTIONS, FUNCTION_LINES)


def ratchet(table: str, found: dict[str, int], exceptions: dict[str, int], limit: int) -> Iterator[str]:
    """Complaints about what is too long, and about exceptions that are no longer needed as they stand."""
    for key, lines in found.items():
        allowed = exceptions.get(key, limit)
        if lines > allowed:
            yield f"{key} has {lines} lines, at most {allowed}: split it"
    for key, allowed in exceptions.items():
        lines = found.get(key, 0)
        if lines <= limit:
            yield f"{key} needs no entry in {table} any more: remove it"
        elif lines <= allowed - SLACK:
            yield f"{key} has only {lines} lines: lower its entry in {table}"


@rule
def nothing_is_left_for_later_in_the_code() -> Iterator[str]:
    marks = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" * 3]) + r")\b")
    for file in files():
        for number, line in enumerate(file.text.splitlines(), 1):
            if marks.search(line):
                yield f"{file.path}:{number} {line.strip()[:80]}: do it, or file it as an issue"


@rule
def no_file_names_the_host_of_a_registry() -> Iterator[str]:
    hosts = [("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"), ("npmjs", "com"), ("yarnpkg", "com")]
    pattern = re.compile("|".join(rf"\b{name}\.{domain}\b" for name, domain in hosts))
    for file in files():
        for number, line in enumerate(file.text.splitlines(), 1):
            if pattern.search(line):
                yield f"{file.path}:{number} {line.strip()[:80]}: packages come from wherever the user's tools look"


@rule
def locks_hold_versions_and_hashes_and_no_addresses() -> Iterator[str]:
    for file in files():
        name = Path(file.path).name
        if name == "package-lock.json":
            for key, package in json.loads(file.text).get("packages", {}).items():
                if "resolved" in package and not package.get("link"):
                    yield f"{file.path}: {key} is resolved to an address"
        if file.path.startswith("requirements/"):
            yield from requirement_complaints(file)


def requirement_complaints(file: File) -> Iterator[str]:
    """About a requirements file: each line pins a version and carries hashes, and nothing else stands in it."""
    text = file.text.replace("\\\n", " ")
    for line in text.splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if "://" in line or not re.match(r"[a-z0-9._-]+(\[[a-z,]+\])?==\S+ .*--hash=sha256:", line):
            yield f"{file.path}: {line[:80]}"


@rule
def text_is_clean_and_files_are_small() -> Iterator[str]:
    for file in files():
        text = file.text
        if GENERATED.search(file.path) or not text:
            continue
        if len(text) > KILOBYTES * 1024 and not file.path.endswith("-lock.json"):
            yield f"{file.path} is larger than {KILOBYTES} KB"
        if "\r" in text or not text.endswith("\n"):
            yield f"{file.path}: lines end with a line feed, the last one too"


@pytest.mark.parametrize("name", RULES)
def test_tidy(name: str) -> None:
    complaints = list(RULES[name]())
    assert not complaints, f"\n{name}:\n  " + "\n  ".join(complaints)


def test_the_ratchet_only_tightens() -> None:
    found = {"short": 10, "long": 60, "shrunk": 45, "healed": 30}
    complaints = list(ratchet("TABLE", found, {"shrunk": 70, "healed": 50, "gone": 80}, 40))
    assert [complaint.split()[0] for complaint in complaints] == ["long", "shrunk", "healed", "gone"]
