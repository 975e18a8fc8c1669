"""Any value of any struct of the vocabulary, within the bounds of its protobuf message."""

from __future__ import annotations

import importlib
import inspect
from enum import IntEnum
from functools import cache
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from hypothesis import strategies as st
from msgspec import Struct

from majlis.engine.vocabulary import wire

BOUNDS = {
    FieldDescriptor.TYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_SINT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.TYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.TYPE_SINT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.TYPE_UINT64: (0, 2**64 - 1),
}


def message_of(codec: str) -> type[Message]:
    """The pb2 class of a struct or union."""
    hints = inspect.signature(getattr(wire, f"fill_{codec}")).parameters["m"].annotation
    module, name = hints.split(".")
    message: type[Message] = getattr(importlib.import_module(f"majlis.v1.{module}"), name)
    return message


def values(kind: Any, field: FieldDescriptor | None) -> st.SearchStrategy[Any]:
    """Every value of a struct attribute's type."""
    if get_origin(kind) is tuple:
        return st.lists(values(get_args(kind)[0], field), max_size=3).map(tuple)
    if isinstance(kind, UnionType):
        return st.one_of(
            *[st.none() if part is type(None) else values(part, field) for part in get_args(kind)]
        )
    if isinstance(kind, type) and issubclass(kind, IntEnum):
        return st.sampled_from([value for value in kind if value != 0])
    if isinstance(kind, type) and issubclass(kind, Struct):
        return structs(kind)
    if kind is int:
        assert field is not None
        low, high = BOUNDS[field.type]
        return st.integers(low, high) | st.sampled_from([0, 1, high])
    return {str: st.text(max_size=5), bytes: st.binary(max_size=5), bool: st.booleans()}[kind]


@cache
def structs(kind: Any) -> st.SearchStrategy[Any]:
    if isinstance(kind, UnionType):
        return st.one_of(*[structs(member) for member in get_args(kind)])
    fields: Any = message_of(snake(kind.__name__)).DESCRIPTOR.fields_by_name
    hints = get_type_hints(kind)
    return st.builds(kind, **{name: values(hint, fields.get(name)) for name, hint in hints.items()})


def snake(name: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).removeprefix("_")
