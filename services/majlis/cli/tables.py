"""`majlis table`: open a table, see what is played, watch a match, see who owns which shard."""

from __future__ import annotations

import secrets
from typing import Annotated, Any, Final

import grpc
import grpc.aio
import typer
from google.protobuf.json_format import MessageToDict

from majlis.chassis.rejections import rejected_from
from majlis.chassis.service import open_channel
from majlis.chassis.tokens import credentials
from majlis.cli.calls import channel, ending_of, token
from majlis.cli.options import LEVELS, Level, parse_options
from majlis.cli.output import Json, note, out, print_json, show, show_facts
from majlis.cli.session import run
from majlis.cli.texts import clock_of, words
from majlis.engine.vocabulary.view import MatchView
from majlis.engine.vocabulary.wire import decode_match_view
from majlis.v1 import lobby_pb2, match_pb2, table_pb2, view_pb2
from majlis.v1.lobby_pb2_grpc import LobbyStub
from majlis.v1.table_pb2_grpc import TableStub

commands = typer.Typer(help="Tables and matches.", no_args_is_help=True)

WAIT_MS: Final = 20_000

MatchId = Annotated[str, typer.Argument(help="The match's id, e.g. 3-k7qd2m9x4tca.")]


def register(app: typer.Typer) -> None:
    app.add_typer(commands, name="table")


@commands.command("open")
def open_table(
    game: Annotated[str, typer.Argument(help="The game's key, e.g. sounding.")],
    seats: Annotated[int, typer.Option(min=1, max=32, help="Seats at the table.")] = 4,
    computers: Annotated[
        int | None, typer.Option(min=0, help="Of them, computers; default: all but one.")
    ] = None,
    level: Annotated[Level, typer.Option(help="The computers' level.")] = Level.CLUB,
    name: Annotated[str, typer.Option(help="Your name.")] = "Operator",
    thinking: Annotated[
        int, typer.Option(min=0, help="The computers' pace in per cent of a person's.")
    ] = 100,
    option: Annotated[list[str] | None, typer.Option(help="An option of the game: NAME=VALUE.")] = None,
    as_json: Json = False,
) -> None:
    """Open a table and take its first seat; prints the match's id and the seat token."""
    request = lobby_pb2.OpenTableRequest(
        game=game,
        seats=seats,
        computers=seats - 1 if computers is None else computers,
        level=LEVELS[level],
        thinking_percent=thinking,
        options=parse_options(option),
        request_id=secrets.token_hex(8),
    )
    opened = run(_open(name, request))
    show_facts(
        {
            "match": opened.match_id,
            "seat": opened.seat,
            "table": opened.table_address,
            "seat_token": opened.seat_token,
        },
        as_json=as_json,
    )


@commands.command("list")
def list_matches(
    live: Annotated[bool, typer.Option("--live", help="Only matches that have not ended.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 100,
    as_json: Json = False,
) -> None:
    """Matches that the tables hold."""
    rows = run(_matches(live, limit))
    columns = {
        "match": "match", "game": "game", "entries": "entries", "state": "state", "waiting_for": "waits for seat",
        "what_for": "for", "until": "until",
    }  # fmt: skip
    show(rows, columns, as_json=as_json)


@commands.command("watch")
def watch(match_id: MatchId, as_json: Json = False) -> None:
    """Follow a match as a spectator until it ends: a line for every change."""
    run(_watch(match_id, as_json))


@commands.command("shards")
def shards(as_json: Json = False) -> None:
    """Which table instance owns which shard."""
    rows = [
        {
            "shard": status.shard,
            "owner": status.owner or None,
            "address": status.address or None,
            "epoch": status.epoch,
            "stalled": status.stalled,
            "live_matches": status.live_matches,
        }
        for status in run(_shards())
    ]
    columns = {
        "shard": "shard",
        "owner": "owner",
        "address": "address",
        "epoch": "epoch",
        "stalled": "stalled",
    }
    show(sorted(rows, key=lambda row: int(row["shard"])), columns, as_json=as_json)


async def _open(name: str, request: lobby_pb2.OpenTableRequest) -> lobby_pb2.OpenTableResponse:
    async with channel("lobby") as opened:
        lobby = LobbyStub(opened)
        player = await lobby.SignIn(lobby_pb2.SignInRequest(name=name))
        return await lobby.OpenTable(request, metadata=credentials(player.token))


async def _shards() -> list[table_pb2.ShardStatus]:
    async with channel("table") as opened:
        listed = await TableStub(opened).ListShards(table_pb2.ListShardsRequest(), metadata=token())
        return list(listed.shards)


async def _matches(live: bool, limit: int) -> list[dict[str, Any]]:
    addresses = sorted({status.address for status in await _shards() if status.address})
    rows: list[dict[str, Any]] = []
    for address in addresses:
        async with open_channel(address) as opened:
            try:
                listed = await TableStub(opened).ListMatches(
                    table_pb2.ListMatchesRequest(live_only=live, limit=limit), metadata=token()
                )
            except grpc.RpcError as error:
                raise ending_of(error, "table", address) from None
        rows += [_summary(match) for match in listed.matches]
    return rows[:limit]


def _summary(match: table_pb2.MatchSummary) -> dict[str, Any]:
    state = "playing" if match.started else "seating"
    if match.HasField("ended"):
        state = words(match_pb2.Termination.Name(match.ended.termination), "TERMINATION_")
    elif match.paused:
        state = "paused"
    return {
        "match": match.match_id,
        "game": match.game,
        "entries": match.entries,
        "players": list(match.player_ids),
        "state": state,
        "waiting_for": list(match.waiting_for),
        "what_for": match.what_for,
        "until": clock_of(match.due_ms),
    }


async def _watch(match_id: str, as_json: bool) -> None:
    address = await _address_of(match_id)
    version = 0
    while True:
        async with open_channel(address) as opened:
            try:
                request = table_pb2.ViewRequest(match_id=match_id, newer_than=version, wait_ms=WAIT_MS)
                seen = await TableStub(opened).View(request)
            except grpc.RpcError as error:
                rejected = rejected_from(error)
                if rejected is None or rejected.code.name != "MOVED":
                    raise ending_of(error, "table", address) from None
                address = await _address_of(match_id)
                continue
        view = decode_match_view(seen.public)
        if seen.view_version != version:
            version = seen.view_version
            _print_view(view, seen, as_json)
        if view.ended is not None:
            return


async def _address_of(match_id: str) -> str:
    async with channel("lobby") as opened:
        found = await LobbyStub(opened).FindMatch(
            lobby_pb2.FindMatchRequest(match_id=match_id), metadata=token()
        )
        return found.table_address


def _print_view(view: MatchView, seen: table_pb2.ViewResponse, as_json: bool) -> None:
    if as_json:
        shown = MessageToDict(view_pb2.MatchView.FromString(seen.public), preserving_proto_field_name=True)
        print_json({"view_version": seen.view_version, "now_ms": seen.now_ms, "view": shown})
        return
    totals = getattr(view.game_view, "totals", ())
    standing = f"totals {' '.join(map(str, totals))}" if totals else ""
    if view.ended is not None:
        places = " ".join(map(str, view.ended.places))
        out.print(
            f"{seen.view_version:>6}  ended: {words(view.ended.termination.name)}; places by seat: {places}; {standing}"
        )
    else:
        waits = ", ".join(map(str, view.waiting_for))
        state = "paused" if view.paused else f"waits for seat {waits} ({view.what_for})" if waits else "waits"
        out.print(f"{seen.view_version:>6}  {state}; {standing}")
    if view.decision_id == 0 and view.ended is None:
        note("nobody may act now")
