"""Structs and protobuf messages say the same, and what is unknown fails closed (DESIGN §4)."""

from __future__ import annotations

import importlib
from typing import Any, get_args, get_type_hints

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from majlis.engine.unreadable import UnknownKind, Unreadable, UnspecifiedValue
from majlis.engine.vocabulary import wire
from majlis.engine.vocabulary.entry import ActorKind, Command, Entry, Event, Observed
from majlis.engine.vocabulary.match import (
    Controller,
    DecisionOpened,
    MatchEnded,
    OpenMatch,
    Resign,
    SeatSetup,
    Termination,
)
from majlis.engine.vocabulary.sounding import (
    SoundingCardPlaced,
    SoundingDraw,
    SoundingPlace,
    SoundingTakeDiscard,
)
from majlis.v1 import entry_pb2
from tests.support.structs import message_of, snake, structs

CODECS = sorted(name.removeprefix("encode_") for name in vars(wire) if name.startswith("encode_"))
ENTRY = Entry(
    schema=1,
    rules_version=1,
    match_id="3-abcdefgh",
    number=7,
    actor_kind=ActorKind.SEAT,
    actor_seat=0,
    command_id="c7",
    decision_id=5,
    command=SoundingPlace(cell=0),
    observed=Observed(received_at_ms=1_700_000_000_000),
    events=(
        SoundingCardPlaced(seat=0, cell=0, card=0, replaced=0),
        DecisionOpened(decision_id=6, seats=(1,), what_for="turn", due_ms=1_700_000_030_000),
    ),
    prev_hash=bytes(range(32)),
)


def struct_of(codec: str) -> Any:
    return get_type_hints(getattr(wire, f"encode_{codec}"))["s"]


@pytest.mark.parametrize("codec", CODECS)
@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(data=st.data())
def test_what_is_encoded_is_decoded_again(codec: str, data: st.DataObject) -> None:
    struct = data.draw(structs(struct_of(codec)))
    stored = getattr(wire, f"encode_{codec}")(struct)
    assert getattr(wire, f"decode_{codec}")(stored) == struct
    # Protobuf's own reading agrees: nothing is written twice, in another order, or unknown to it.
    message = message_of(codec).FromString(stored)
    assert message.SerializeToString(deterministic=True) == stored
    assert getattr(wire, f"read_{codec}")(message) == struct


def test_every_message_of_the_engines_protos_has_a_codec() -> None:
    modules = {message_of(codec).DESCRIPTOR.file.name for codec in CODECS}
    names = {
        snake(name)
        for file in modules
        for name in importlib.import_module(
            file.removesuffix(".proto").replace("/", ".") + "_pb2"
        ).DESCRIPTOR.message_types_by_name
        if not name.endswith("Frame")
    }
    assert names == set(CODECS)


@settings(max_examples=30, deadline=None)
@given(structs(Entry))
def test_an_entry_read_through_its_frame_is_the_entry(entry: Entry) -> None:
    whole = entry_pb2.Entry()
    wire.fill_entry(whole, entry)
    assert wire.encode_entry(entry) == whole.SerializeToString(deterministic=True)
    assert wire.read_entry(whole) == entry


def test_the_frame_has_the_fields_of_the_entry() -> None:
    def shape(message: Any) -> dict[str, tuple[int, bool, bool]]:
        fields = message.DESCRIPTOR.fields
        return {field.name: (field.number, field.is_repeated, field.has_presence) for field in fields}

    assert shape(entry_pb2.EntryFrame) == shape(entry_pb2.Entry)


def test_zero_is_written_and_read_as_zero_not_as_unset() -> None:
    assert wire.decode_entry(wire.encode_entry(ENTRY)) == ENTRY
    for command in (SoundingTakeDiscard(cell=None), SoundingTakeDiscard(cell=0), SoundingDraw(), Resign()):
        assert wire.decode_command(wire.encode_command(command)) == command


def test_an_unset_kind_is_unknown() -> None:
    with pytest.raises(UnknownKind):
        wire.decode_command(b"")
    with pytest.raises(UnknownKind):
        wire.decode_event(b"")
    newer = entry_pb2.Event().SerializeToString() + bytes(
        [0xFA, 0x7F, 0x00]
    )  # field 2047, as newer code may write
    with pytest.raises(UnknownKind):
        wire.decode_event(newer)


def test_an_entry_with_an_unknown_event_is_unreadable() -> None:
    frame = entry_pb2.EntryFrame.FromString(wire.encode_entry(ENTRY))
    frame.events.append(bytes([0xFA, 0x7F, 0x00]))
    with pytest.raises(UnknownKind):
        wire.decode_entry(frame.SerializeToString())


@pytest.mark.parametrize("number", [0, 77])
def test_an_unspecified_or_unknown_enum_is_refused(number: int) -> None:
    seat = SeatSetup(player_id="p", controller=Controller.PERSON)
    message = entry_pb2.Entry.FromString(
        wire.encode_entry(msgspec.structs.replace(ENTRY, command=OpenMatch(seats=(seat,))))
    )
    message.command.open_match.seats[0].controller = number  # type: ignore[assignment]
    with pytest.raises(UnspecifiedValue, match="Controller"):
        wire.decode_entry(message.SerializeToString())
    message.actor_kind = number  # type: ignore[assignment]
    with pytest.raises(UnspecifiedValue, match="ActorKind"):
        wire.decode_entry(message.SerializeToString())


def test_an_optional_enum_that_is_set_must_be_a_value() -> None:
    seat = SeatSetup(player_id="p", controller=Controller.PERSON)
    assert wire.decode_seat_setup(wire.encode_seat_setup(seat)).level is None
    with pytest.raises(UnspecifiedValue):
        wire.decode_seat_setup(wire.encode_seat_setup(seat) + bytes([0x18, 0x00]))


@given(st.sampled_from(CODECS), st.binary(max_size=40))
@settings(max_examples=500, deadline=None)
def test_noise_is_unreadable_or_a_value_never_another_error(codec: str, noise: bytes) -> None:
    try:
        struct = getattr(wire, f"decode_{codec}")(noise)
    except Unreadable:
        return
    getattr(wire, f"encode_{codec}")(struct)


@pytest.mark.parametrize("kind", [*get_args(Command), *get_args(Event)])
def test_every_command_and_event_has_a_stored_name(kind: type) -> None:
    names = wire.COMMAND_NAMES if kind in wire.COMMAND_NAMES else wire.EVENT_NAMES
    types = wire.COMMAND_TYPES if kind in wire.COMMAND_NAMES else wire.EVENT_TYPES
    assert types[names[kind]] is kind
    assert names[kind] == snake(kind.__name__)


@given(st.one_of(structs(Event), structs(Command)))
@settings(deadline=None)
def test_small_kinds_are_remembered_without_mixing_them_up(value: Any) -> None:
    union = "event" if type(value) in wire.EVENT_NAMES else "command"
    stored = getattr(wire, f"seal_{union}")(value)
    assert stored == getattr(wire, f"encode_{union}")(value)
    again = getattr(wire, f"open_{union}")(stored)
    assert (type(again), again) == (type(value), value)


def test_a_long_union_and_one_written_twice_are_read_by_protobufs_rules() -> None:
    ended = MatchEnded(termination=Termination.ABORTED, reason="x" * 500)
    assert wire.decode_event(wire.encode_event(ended)) == ended
    first, second = SoundingDraw(), SoundingPlace(cell=3)
    assert wire.decode_command(wire.encode_command(first) + wire.encode_command(second)) == second


def test_structs_are_immutable_and_hashable() -> None:
    with pytest.raises(AttributeError):
        ENTRY.number = 8  # type: ignore[misc]
    assert len({ENTRY, msgspec.structs.replace(ENTRY)}) == 1
