"""`majlis replay`: a finished match, move by move, as a seat, a spectator or the auditor saw it."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator
from hashlib import sha256
from types import ModuleType
from typing import Annotated, Any

import typer
from msgspec import Struct

from majlis.cli.exits import no, usage
from majlis.cli.output import Json, out, print_json
from majlis.cli.records import is_file, record_from_archive, record_from_file
from majlis.cli.session import run
from majlis.cli.texts import words
from majlis.engine import match
from majlis.engine.decider import SPECTATOR
from majlis.engine.match import MatchState
from majlis.engine.unreadable import Unreadable
from majlis.engine.vocabulary.entry import Entry, Event
from majlis.engine.vocabulary.match import MatchEnded
from majlis.engine.vocabulary.result import Record
from majlis.engine.vocabulary.view import Happening
from majlis.engine.vocabulary.wire import COMMAND_NAMES, decode_entry

EVERYTHING = -2
"""The viewer who sees what every seat saw: the match is over, nothing is secret any more."""


def register(app: typer.Typer) -> None:
    app.command()(replay)


def replay(
    source: Annotated[
        str, typer.Argument(metavar="MATCH|FILE", help="A match's id, or an exported archive file.")
    ],
    start: Annotated[
        int, typer.Option("--from", min=1, help="Begin with this entry; the position before it is shown.")
    ] = 1,
    seat: Annotated[int | None, typer.Option(min=0, help="Only what this seat saw.")] = None,
    spectator: Annotated[bool, typer.Option("--spectator", help="Only what spectators saw.")] = False,
    match_id: Annotated[str, typer.Option("--match", help="Which match of a file that holds several.")] = "",
    as_json: Json = False,
) -> None:
    """Replay a finished match move by move."""
    if seat is not None and spectator:
        raise usage("--seat and --spectator exclude each other")
    viewer = SPECTATOR if spectator else EVERYTHING if seat is None else seat
    record = record_from_file(source, match_id) if is_file(source) else run(record_from_archive(source))
    if start > len(record.entries):
        raise usage(f"--from {start}: the match has {len(record.entries)} entries")
    try:
        moves = list(_moves(record, viewer))
    except Unreadable as error:
        raise no(f"the record of {record.match_id} cannot be read: {error}", "update majlis") from None
    if viewer >= len(moves[0].state.seats):
        raise usage(f"--seat {viewer}: the match has seats 0 to {len(moves[0].state.seats) - 1}")
    if as_json:
        print_json(
            {
                "match": record.match_id,
                "game": record.game,
                "moves": [_plain(move) for move in moves[start - 1 :]],
            }
        )
        return
    _print(record, moves, viewer, start)


class Move(Struct, frozen=True):
    """One entry, what the viewer learned from it, and the match after it."""

    entry: Entry
    told: tuple[str, ...]
    state: MatchState


def _moves(record: Record, viewer: int) -> Iterator[Move]:
    state: MatchState | None = None
    for stored in record.entries:
        entry = decode_entry(stored)
        state = match.apply(state, entry, sha256(stored).digest())
        told = tuple(line for event in entry.events if (line := _told(state, event, viewer)))
        yield Move(entry, told, state)


def _told(state: MatchState, event: Event, viewer: int) -> str:
    happened = match.happening(state, event, SPECTATOR)
    for seat in range(len(state.seats)) if viewer == EVERYTHING else [viewer]:
        own = None if seat == SPECTATOR else match.happening(state, event, seat)
        happened = happened if own is None else own
    return "" if happened is None else _sentence(state.game, happened)


def _sentence(game: str, happened: Happening) -> str:
    if isinstance(happened, MatchEnded):
        places = ", ".join(map(str, happened.places)) or "none"
        return f"the match ends ({words(happened.termination.name)}): places by seat {places}"
    if hasattr(happened, "kind"):
        return str(narration(game).told(happened))
    # What all games share: the event's name says it.
    name = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in type(happened).__name__)
    seat = getattr(happened, "seat", None)
    reason = getattr(happened, "reason", "")
    return name.strip() + ("" if seat is None else f": seat {seat}") + (f" ({reason})" if reason else "")


def narration(game: str) -> ModuleType:
    """A game's words and pictures: `told(happening)` and `picture(public view, private view)`."""
    return importlib.import_module(f"majlis.engine.games.{game}.narration")


def _print(record: Record, moves: list[Move], viewer: int, start: int) -> None:
    first, last = moves[0].state, moves[-1].state
    opened = first.facts.opened
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(opened.opened_at_ms / 1000))
    where = (
        f", tournament {opened.tournament_id} round {opened.round} pod {opened.pod}"
        if opened.tournament_id
        else ""
    )
    out.print(
        f"match {record.match_id}: {record.game}, rules version {last.rules_version}, opened {when}{where}"
    )
    for seat, setup in enumerate(opened.seats):
        out.print(f"  seat {seat}: {setup.player_id or 'a computer'} ({words(setup.controller.name)})")
    if start > 1:
        out.print(_picture(moves[start - 2].state, viewer), markup=False)
    began_ms = opened.opened_at_ms
    for move in moves[start - 1 :]:
        for line in move.told:
            seconds = (move.entry.observed.received_at_ms - began_ms) / 1000 if move.entry.observed else 0.0
            out.print(f"{move.entry.number:>5} {seconds:>9.3f} s  {line}", markup=False)
    out.print(_picture(last, viewer), markup=False)


def _picture(state: MatchState, viewer: int) -> str:
    if not state.started:
        return "  nobody has been dealt a card yet"
    private = match.private_view(state, viewer).game_view if viewer >= 0 else None
    view = match.public_view(state).game_view
    return str(narration(state.game).picture(view, private))


def _plain(move: Move) -> dict[str, Any]:
    entry = move.entry
    return {
        "entry": entry.number,
        "at_ms": entry.observed.received_at_ms if entry.observed else 0,
        "actor": words(entry.actor_kind.name),
        "seat": entry.actor_seat,
        "command": COMMAND_NAMES[type(entry.command)],
        "decision": entry.decision_id,
        "happened": list(move.told),
    }
