"""A match's options as text: what the log, the wire and scenario files hold, and the game's struct made of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from majlis.engine.decider import Rejected
from majlis.engine.vocabulary.match import Option
from majlis.engine.vocabulary.rejection import RejectionCode

_LISTED: Final = 60
"""More choices than this are not listed in a refusal."""


def complete(defaults: Any, chosen: Iterable[Option]) -> Any:
    """The defaults (a frozen struct) with the chosen options laid over them.

    Raises Rejected(BAD_OPTION), which names the option and what it may be.
    """
    kind = type(defaults)
    values: dict[str, Any] = msgspec.structs.asdict(defaults)
    seen: set[str] = set()
    for option in chosen:
        if option.name not in values:
            known = ", ".join(sorted(values))
            raise _bad(f"there is no option {option.name[:40]!r}", f"Options of this game: {known}.")
        if option.name in seen:
            raise _bad(f"option {option.name} is given twice", "Give each option once.")
        seen.add(option.name)
        values[option.name] = option.value
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError:
        raise _misfit(kind, values) from None


def _misfit(kind: type[Any], values: dict[str, Any]) -> Rejected:
    """The refusal of the first value that is none of its option's."""
    for field in msgspec.structs.fields(kind):
        try:
            msgspec.convert(values[field.name], field.type, strict=False)
        except msgspec.ValidationError:
            detail = f"option {field.name} cannot be {str(values[field.name])[:40]!r}"
            return _bad(detail, f"{field.name} may be {allowed_values(field.type)}.")
    return _bad("these options do not go together", "Leave some of them out.")


def texts(options: Any) -> tuple[Option, ...]:
    """Every option with its value, sorted by name."""
    values = msgspec.structs.asdict(options)
    return tuple(Option(name=name, value=_text(values[name])) for name in sorted(values))


def allowed_values(kind: Any) -> str:
    """What a value of this type may be, in words: `a or b`, `a whole number from 0 to 250`."""
    schema = msgspec.json.schema(kind)
    choices = schema.get("enum", [])
    if choices and len(choices) <= _LISTED:
        return " or ".join(map(str, choices))
    if schema.get("type") == "boolean":
        return "true or false"
    if schema.get("type") == "integer":
        limits = [
            f"{word} {schema[key]}" for word, key in (("from", "minimum"), ("to", "maximum")) if key in schema
        ]
        return " ".join(["a whole number", *limits])
    return f"a value of type {schema.get('type', 'text')}"


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def _bad(detail: str, remedy: str) -> Rejected:
    return Rejected(RejectionCode.BAD_OPTION, detail, remedy)
