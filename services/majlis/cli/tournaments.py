"""`majlis tournament`: create, enter, direct and follow tournaments."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Annotated, Any

import typer

from majlis.cli.exits import usage
from majlis.cli.options import LEVELS, Level, parse_options
from majlis.cli.output import Json, note, print_json, show, show_facts
from majlis.cli.session import run
from majlis.cli.tournament import calls, shown
from majlis.v1 import lobby_pb2, match_pb2, tournament_pb2

commands = typer.Typer(help="Tournaments.", no_args_is_help=True)

TournamentId = Annotated[str, typer.Argument(help="The tournament's id.")]
Reason = Annotated[str, typer.Option(help="Why: it stands in the log.")]

NO_SHOW = {
    "computer": tournament_pb2.NO_SHOW_POLICY_COMPUTER,
    "forfeit": tournament_pb2.NO_SHOW_POLICY_FORFEIT,
}


def register(app: typer.Typer) -> None:
    app.add_typer(commands, name="tournament")


@commands.command("create")
def create(
    name: Annotated[str, typer.Argument(help="What it is called.")],
    game: Annotated[str, typer.Option(help="The game's key.")] = "sounding",
    rounds: Annotated[int, typer.Option(min=1, max=99)] = 5,
    pod_size: Annotated[int, typer.Option(min=2, max=32, help="Seats at each table.")] = 4,
    max_entrants: Annotated[int, typer.Option(min=0, help="0: no limit.")] = 0,
    no_show: Annotated[
        str, typer.Option(help="Who does not come: computer (plays the seat) or forfeit.")
    ] = "computer",
    seating_s: Annotated[
        int, typer.Option(min=1, help="How long persons have to take their seats, in seconds.")
    ] = 120,
    thinking: Annotated[
        int, typer.Option(min=0, help="The computers' pace in per cent of a person's.")
    ] = 100,
    option: Annotated[list[str] | None, typer.Option(help="An option of the game: NAME=VALUE.")] = None,
    tournament_id: Annotated[str, typer.Option("--id", help="Its id; default: made from the name.")] = "",
    as_json: Json = False,
) -> None:
    """Announce a tournament: registration is open from now on."""
    if no_show not in NO_SHOW:
        raise usage(f"--no-show is computer or forfeit, not {no_show!r}")
    setup = tournament_pb2.TournamentSetup(
        name=name,
        game=game,
        options=parse_options(option),
        rounds=rounds,
        pod_size=pod_size,
        max_entrants=max_entrants,
        no_show=NO_SHOW[no_show],
        seating_timeout_ms=seating_s * 1000,
        thinking_percent=thinking,
        rng_seed=secrets.token_bytes(32),
    )
    created = run(calls.create(tournament_id, setup))
    show_facts({"tournament": created}, as_json=as_json)


@commands.command("register")
def enter(
    tournament_id: TournamentId,
    name: Annotated[str, typer.Option(help="The entrant's name; default for computers: Computer.")] = "",
    computers: Annotated[
        int, typer.Option(min=0, help="Enter so many computers, named NAME 1, NAME 2 …")
    ] = 0,
    level: Annotated[Level, typer.Option(help="The computers' level.")] = Level.CLUB,
    as_json: Json = False,
) -> None:
    """Enter a person (as a guest of that name) or computers."""
    if not name and not computers:
        raise usage("say who enters: --name NAME, or --computers N")
    request = lobby_pb2.RegisterRequest(tournament_id=tournament_id, name=name or "Computer")
    if computers:
        request.controller = match_pb2.CONTROLLER_COMPUTER
        request.level = LEVELS[level]
        request.count = computers
    else:
        request.controller = match_pb2.CONTROLLER_PERSON
    entered, player_token = run(calls.register(request, guest="" if computers else name))
    facts: dict[str, Any] = {"entrants": entered}
    if player_token:
        facts["player_token"] = player_token
    show_facts(facts, as_json=as_json)


@commands.command("start")
def start(tournament_id: TournamentId, as_json: Json = False) -> None:
    """Close registration and pair the first round."""
    command = tournament_pb2.TournamentCommand(start_tournament=tournament_pb2.StartTournament())
    _direct(tournament_id, command, as_json)


@commands.command("pause")
def pause(tournament_id: TournamentId, reason: Reason, as_json: Json = False) -> None:
    """Stop all its clocks and open no further matches."""
    command = tournament_pb2.TournamentCommand(pause_tournament=tournament_pb2.PauseTournament(reason=reason))
    _direct(tournament_id, command, as_json)


@commands.command("resume")
def resume(tournament_id: TournamentId, reason: Reason, as_json: Json = False) -> None:
    """Go on after a pause; every clock is credited with its length."""
    command = tournament_pb2.TournamentCommand(
        resume_tournament=tournament_pb2.ResumeTournament(reason=reason)
    )
    _direct(tournament_id, command, as_json)


@commands.command("abort")
def abort(tournament_id: TournamentId, reason: Reason, as_json: Json = False) -> None:
    """End it for good, without final standings."""
    command = tournament_pb2.TournamentCommand(abort_tournament=tournament_pb2.AbortTournament(reason=reason))
    _direct(tournament_id, command, as_json)


@commands.command("withdraw")
def withdraw(
    tournament_id: TournamentId,
    entrant: Annotated[str, typer.Argument(help="The entrant's id.")],
    reason: Reason,
    as_json: Json = False,
) -> None:
    """Take an entrant out: it is paired no more."""
    withdrawal = tournament_pb2.WithdrawEntrant(entrant_id=entrant, reason=reason)
    _direct(tournament_id, tournament_pb2.TournamentCommand(withdraw_entrant=withdrawal), as_json)


@commands.command("adjudicate")
def adjudicate(
    tournament_id: TournamentId,
    round_number: Annotated[int, typer.Argument(metavar="ROUND", min=1)],
    pod: Annotated[int, typer.Argument(min=1)],
    places: Annotated[str, typer.Option(help="A place for each seat in seat order, e.g. 2,1,3,3.")],
    reason: Reason,
    as_json: Json = False,
) -> None:
    """Decide a pod as the director."""
    try:
        numbers = [int(place) for place in places.split(",")]
    except ValueError:
        raise usage(f"--places is numbers with commas, not {places!r}", "e.g. --places 2,1,3,3") from None
    decided = tournament_pb2.AdjudicatePod(round=round_number, pod=pod, places=numbers, reason=reason)
    _direct(tournament_id, tournament_pb2.TournamentCommand(adjudicate_pod=decided), as_json)


@commands.command("standings")
def standings(tournament_id: TournamentId, as_json: Json = False) -> None:
    """The standings with all tie-breaks."""
    told = run(calls.standings(tournament_id))
    rows = [shown.standing(each) for each in told.standings]
    show(rows, shown.STANDINGS, as_json=as_json, title=f"after round {told.after_round}")


@commands.command("pairings")
def pairings(
    tournament_id: TournamentId,
    round_number: Annotated[int, typer.Option("--round", min=0, help="0: the present one.")] = 0,
    as_json: Json = False,
) -> None:
    """Who plays whom, in which match, and how it stands."""
    told = run(calls.pairings(tournament_id, round_number))
    rows = [shown.pod(each) for each in told.pods]
    if as_json:
        print_json({"round": told.round, "pods": rows, "byes": list(told.byes)})
        return
    show(rows, shown.PODS, as_json=False, title=f"round {told.round}")
    if told.byes:
        note(f"byes: {', '.join(told.byes)}")


@commands.command("show")
def show_tournament(tournament_id: TournamentId, as_json: Json = False) -> None:
    """How a tournament stands."""
    show_facts(shown.tournament(run(calls.get(tournament_id))), as_json=as_json)


@commands.command("list")
def list_tournaments(
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 100, as_json: Json = False
) -> None:
    """All tournaments, the newest first."""
    rows = [shown.tournament(each) for each in run(calls.list_all(limit))]
    show(rows, shown.TOURNAMENTS, as_json=as_json)


@commands.command("watch")
def watch(tournament_id: TournamentId, as_json: Json = False) -> None:
    """Follow a tournament until it ends: a progress bar, or a JSON line for every change."""
    run(calls.watch(tournament_id, shown.follower(as_json=as_json)))


@commands.command("export")
def export(
    tournament_id: TournamentId,
    output: Annotated[Path, typer.Option("--output", "-o", help="The file to write.")],
    as_json: Json = False,
) -> None:
    """Write its records and the signed checkpoint over them to a file that `majlis verify` checks offline."""
    from majlis.cli.evidence import export_to

    export_to(tournament_id, output, as_json=as_json)


def _direct(tournament_id: str, command: tournament_pb2.TournamentCommand, as_json: bool) -> None:
    entry = run(calls.direct(tournament_id, command))
    show_facts({"tournament": tournament_id, "entry": entry}, as_json=as_json)
