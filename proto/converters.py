"""Writes the one module that knows both structs and protobuf messages: straight-line converters for each message.

For a message X there are `read_x(message) -> struct`, `fill_x(message, struct)`, `encode_x(struct) -> bytes` and
`decode_x(bytes) -> struct`. Enums refuse zero and unknown numbers; a union whose kind is not set or not known is refused.

A message with a frame is encoded and decoded through it: its unions stay bytes there and are opened one by one, so
that small ones (a few small numbers: most moves) are converted once and remembered.
"""

from __future__ import annotations

from collections.abc import Iterator

from google.protobuf.descriptor import Descriptor, FieldDescriptor, FileDescriptor

from vocabulary import (
    HEADER,
    Attribute,
    attributes_of,
    frame_of,
    is_union,
    kind_of,
    messages_of,
    module_of,
    python_type,
    snake,
)
from wire_text import DECODE, DECODE_FRAME, ENCODE, HELPERS, IMPORTS, REMEMBERING, UNION_CODEC

_SMALL_TYPES = {
    FieldDescriptor.TYPE_BOOL,
    FieldDescriptor.TYPE_ENUM,
    FieldDescriptor.TYPE_SINT32,
    FieldDescriptor.TYPE_UINT32,
}


def wire_module(files: list[FileDescriptor]) -> str:
    """The whole module."""
    lines = [HEADER.format(source="*.proto"), IMPORTS]
    messages = [message for file in files for message in messages_of(file)]
    enums = [enum for file in files for enum in file.enum_types_by_name.values()]
    for file in files:
        lines += [f"from majlis.v1 import {module_of(file)}_pb2"]
    for kind in [*messages, *enums]:
        lines += [f"from .{module_of(kind.file)} import {kind.name}"]
    lines += [HELPERS]
    lines += [f"_{snake(enum.name).upper()} = _Known({enum.name})" for enum in enums]
    for message in messages:
        lines += _union(message) if is_union(message) else _struct(message, frame=None)
        frame = frame_of(message)
        if frame is not None:
            lines += _struct(message, frame)
        lines += [_codec(message, frame)]
    for union in filter(is_union, messages):
        lines += _union_tables(union)
    closed = [
        kind_of(field)
        for message in messages
        if frame_of(message)
        for field in message.fields
        if _is_closed(field)
    ]
    lines += map(_remembering, closed)
    return "\n".join(lines) + "\n"


def _pb(message: Descriptor) -> str:
    return f"{module_of(message.file)}_pb2.{message.name}"


def _is_closed(field: FieldDescriptor) -> bool:
    """Whether a frame leaves this field closed."""
    return field.message_type is not None and is_union(kind_of(field))


def _codec(message: Descriptor, frame: Descriptor | None) -> str:
    through = frame or message
    names = {
        "name": message.name,
        "low": snake(message.name),
        "pb": _pb(through),
        "read": snake(through.name),
    }
    if is_union(message):
        return UNION_CODEC.format(up=snake(message.name).upper(), **names)
    return (ENCODE + "\n" + (DECODE_FRAME if frame else DECODE)).format(**names)


def _struct(message: Descriptor, frame: Descriptor | None) -> Iterator[str]:
    """`read_x` and `fill_x`, or those of its frame."""
    shape = frame or message
    name, low, attributes = message.name, snake(shape.name), attributes_of(message)
    values = ", ".join(f"{a.name}={_read(a, framed=frame is not None)}" for a in attributes)
    yield f"\ndef read_{low}(m: {_pb(shape)}) -> {name}:"
    yield f"    return {name}({values})"
    yield f"\ndef fill_{low}(m: {_pb(shape)}, s: {name}) -> None:"
    yield "    m.SetInParent()"
    for attribute in attributes:
        yield from (f"    {line}" for line in _fill(attribute, framed=frame is not None))
    if frame is None:
        for attribute in attributes:
            if attribute.is_oneof:
                yield from _oneof(message, attribute)


def _read(attribute: Attribute, *, framed: bool) -> str:
    """The expression that gives the attribute's value from the message `m`."""
    name, field = attribute.name, attribute.field
    if attribute.is_oneof:
        return f"_read_{snake(attribute.owner)}_{name}(m)"
    one = "{}"
    if field.message_type is not None:
        one = f"{'open' if framed and _is_closed(field) else 'read'}_{snake(python_type(field))}({{}})"
    elif field.enum_type is not None:
        one = f"_{snake(python_type(field)).upper()}[{{}}]"
    if field.is_repeated:
        return f"tuple(m.{name})" if one == "{}" else f"tuple([{one.format('x')} for x in m.{name}])"
    value = one.format(f"m.{name}")
    return f'{value} if m.HasField("{name}") else None' if field.has_presence else value


def _fill(attribute: Attribute, *, framed: bool) -> list[str]:
    """The statements that write the attribute of struct `s` into the message `m`."""
    name, field = attribute.name, attribute.field
    if attribute.is_oneof:
        return [
            f"if s.{name} is not None:",
            f"    _FILL_{snake(attribute.owner).upper()}_{name.upper()}[type(s.{name})](m, s.{name})",
        ]
    kind = snake(python_type(field))
    closed = framed and _is_closed(field)
    if field.is_repeated:
        if field.message_type is not None and not closed:
            return [f"for x in s.{name}:", f"    fill_{kind}(m.{name}.add(), x)"]
        return [
            f"if s.{name}:",
            f"    m.{name}.extend({f'[seal_{kind}(x) for x in s.{name}]' if closed else f's.{name}'})",
        ]
    if closed:
        write = f"m.{name} = seal_{kind}(s.{name})"
    elif field.message_type is not None:
        write = f"fill_{kind}(m.{name}, s.{name})"
    else:
        write = f"m.{name} = s.{name}"
    return [f"if s.{name} is not None:", f"    {write}"] if field.has_presence else [write]


def _fillers(table: str, fields: tuple[FieldDescriptor, ...]) -> Iterator[str]:
    yield f"\n{table}: dict[type, Callable[[Any, Any], None]] = {{"
    for field in fields:
        kind = kind_of(field).name
        yield f"    {kind}: lambda m, s: fill_{snake(kind)}(m.{field.name}, s),"
    yield "}"


def _oneof(message: Descriptor, attribute: Attribute) -> Iterator[str]:
    """The helpers of a oneof that stands beside other fields: not set is None."""
    low = snake(message.name)
    yield f"\ndef _read_{low}_{attribute.name}(m: {_pb(message)}) -> {attribute.type}:"
    yield f'    which = m.WhichOneof("{attribute.name}")'
    for field in attribute.fields:
        yield f'    if which == "{field.name}":'
        yield f"        return read_{snake(kind_of(field).name)}(m.{field.name})"
    yield "    return None"
    yield from _fillers(f"_FILL_{low.upper()}_{attribute.name.upper()}", attribute.fields)


def _union(message: Descriptor) -> Iterator[str]:
    """`read_x` and `fill_x` of a union."""
    name, low, up = message.name, snake(message.name), snake(message.name).upper()
    yield f"\ndef read_{low}(m: {_pb(message)}) -> {name}:"
    yield '    which = m.WhichOneof("kind")'
    yield "    if which is None:"
    yield f'        raise UnknownKind("{name}")'
    yield f"    kind: {name} = _READ_{up}[which](getattr(m, which))"
    yield "    return kind"
    yield f"\ndef fill_{low}(m: {_pb(message)}, s: {name}) -> None:"
    yield f"    _FILL_{up}[type(s)](m, s)"


def _tag(number: int) -> bytes:
    """The bytes before a message in field `number`, up to its length."""
    tag = number << 3 | 2
    return bytes([tag]) if tag < 0x80 else bytes([tag & 0x7F | 0x80, tag >> 7])


def _union_tables(message: Descriptor) -> Iterator[str]:
    """By kind: how to read, fill, decode and encode it, and its stored name. They stand after all functions."""
    name, up = message.name, snake(message.name).upper()
    tags = {kind_of(field).name: _tag(field.number) for field in message.fields}
    yield f"\n_DECODE_{up}: dict[bytes, Callable[[bytes], {name}]] = {{"
    for kind, tag in tags.items():
        yield f"    {tag!r}: decode_{snake(kind)},"
    yield "}"
    yield f"_ENCODE_{up}: dict[type, tuple[bytes, Callable[[Any], bytes]]] = {{"
    for kind, tag in tags.items():
        yield f"    {kind}: ({tag!r}, encode_{snake(kind)}),"
    yield "}"
    yield f"\n_READ_{up}: dict[str, Callable[[Any], Any]] = {{"
    for field in message.fields:
        yield f'    "{field.name}": read_{snake(kind_of(field).name)},'
    yield "}"
    yield from _fillers(f"_FILL_{up}", tuple(message.fields))
    yield f"{up}_NAMES: dict[type, str] = {{"
    for field in message.fields:
        yield f'    {kind_of(field).name}: "{field.name}",'
    yield "}"
    yield f"{up}_TYPES: dict[str, type] = {{name: kind for kind, name in {up}_NAMES.items()}}"


def _remembering(union: Descriptor) -> str:
    """`open_x` and `seal_x`: the codec of a closed union, with a memory for its small kinds."""
    low = snake(union.name)
    small = {
        kind_of(field).name: all(
            part.type in _SMALL_TYPES and not part.is_repeated for part in kind_of(field).fields
        )
        for field in union.fields
    }
    sealers = "\n    ".join(
        f"{kind}: {'_seal_small' if few else 'encode'}_{low}," for kind, few in small.items()
    )
    return REMEMBERING.format(low=low, up=low.upper(), name=union.name, sealers=sealers)
