"""`majlis rating`: ladders and players' ratings."""

from __future__ import annotations

import time
from typing import Annotated, Any, Final

import typer

from majlis.cli.calls import channel, token
from majlis.cli.output import Json, show, show_facts
from majlis.cli.session import run
from majlis.v1 import rating_pb2
from majlis.v1.rating_pb2_grpc import RatingStub

commands = typer.Typer(help="Ratings.", no_args_is_help=True)

LADDER: Final = {
    "rank": "rank", "player": "player", "rating": "rating", "mu": "mu", "sigma": "sigma", "matches": "matches",
    "last": "last match",
}  # fmt: skip


def register(app: typer.Typer) -> None:
    app.add_typer(commands, name="rating")


@commands.command("top")
def top(
    game: Annotated[str, typer.Argument(help="The game's key.")] = "sounding",
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 20,
    as_json: Json = False,
) -> None:
    """The best of a game's ladder."""
    show([row(player) for player in run(ladder(game, limit)).players], LADDER, as_json=as_json)


@commands.command("show")
def show_player(
    player: Annotated[str, typer.Argument(help="The player's id.")],
    as_json: Json = False,
) -> None:
    """A player's ratings in all games."""
    rows = [row(rating) for rating in run(_player(player)).ratings]
    show(rows, {"game": "game", **LADDER}, as_json=as_json)


@commands.command("rebuild")
def rebuild(as_json: Json = False) -> None:
    """Forget all ladders and fold every result again."""
    show_facts({"results": run(_rebuild()).results}, as_json=as_json)


async def ladder(game: str, limit: int) -> rating_pb2.GetLadderResponse:
    async with channel("rating") as opened:
        request = rating_pb2.GetLadderRequest(game=game, limit=limit)
        return await RatingStub(opened).GetLadder(request, metadata=token())


def row(player: rating_pb2.PlayerRating) -> dict[str, Any]:
    return {
        "rank": player.rank,
        "player": player.player_id,
        "game": player.game,
        "rating": player.rating,
        "mu": round(player.mu, 3),
        "sigma": round(player.sigma, 3),
        "matches": player.matches,
        "last": time.strftime("%Y-%m-%d %H:%M", time.localtime(player.last_match_ms / 1000)),
        "last_match_ms": player.last_match_ms,
    }


async def _player(player_id: str) -> rating_pb2.GetPlayerResponse:
    async with channel("rating") as opened:
        return await RatingStub(opened).GetPlayer(
            rating_pb2.GetPlayerRequest(player_id=player_id), metadata=token()
        )


async def _rebuild() -> rating_pb2.RebuildResponse:
    async with channel("rating") as opened:
        return await RatingStub(opened).Rebuild(rating_pb2.RebuildRequest(), metadata=token())
