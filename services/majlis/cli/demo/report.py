"""What the demo tells at its end: for people on stdout, or as one JSON object."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

from majlis.chassis.settings import Settings
from majlis.cli import ratings
from majlis.cli.demo.tournament import Played
from majlis.cli.output import out, print_json, show
from majlis.cli.texts import duration
from majlis.cli.tournament import shown
from majlis.v1 import rating_pb2

TOP: Final = 10
RATINGS: Final = {
    "rank": "rank",
    "name": "name",
    "rating": "rating",
    "mu": "mu",
    "sigma": "sigma",
    "matches": "matches",
}


def facts(
    played: Played,
    verdict: dict[str, Any],
    rated: list[rating_pb2.PlayerRating],
    *,
    seconds: float,
    file: Path,
) -> dict[str, Any]:
    """Everything that is told, as JSON has it."""
    names = {line.entrant_id: line.name for line in played.standings}
    audit = {name: verdict[name] for name in ("matches", "entries", "verified")}
    if not verdict["verified"]:
        audit["fault"] = f"{verdict['fault_match']} {verdict['fault']}".strip()
    return {
        "game": played.summary.setup.game,
        "tournament": played.tournament_id,
        "entrants": played.summary.entrants,
        "rounds": played.summary.setup.rounds,
        "matches": played.summary.pods_total,
        "entries": verdict["entries"],
        "seconds": round(seconds, 2),
        "moves_per_s": round(verdict["entries"] / seconds, 1),
        "standings": [shown.standing(line) for line in played.standings],
        "ratings": [
            {**ratings.row(player), "name": names.get(player.player_id, player.player_id)} for player in rated
        ],
        "audit": audit,
        "final_match": played.final_match_id,
        "file": str(file),
    }


def tell(told: dict[str, Any], settings: Settings, *, serving: bool, as_json: bool) -> None:
    """What came of it, and where the platform is (or was, when it does not go on serving)."""
    data_dir = settings.data_dir
    match, file, majlis = told["final_match"], told["file"], _command()
    final = f"{match} --data-dir {data_dir}" if serving else f"{file} --match {match}"
    replay = f"{majlis} replay {final}"
    verify = f"{majlis} verify {file} --data-dir {data_dir}"
    if as_json:
        print_json({**told, "replay": replay, "verify": verify, "data_dir": str(data_dir)})
        return
    show(told["standings"], shown.STANDINGS, as_json=False, title="Standings")
    out.print()
    show(told["ratings"][:TOP], RATINGS, as_json=False, title=f"Ratings (the best {TOP})")
    out.print()
    out.print(
        f"{told['matches']} matches in {duration(told['seconds'])}: {told['moves_per_s']:.0f} moves a second"
    )
    out.print(
        f"audit: {told['audit']['matches']} matches, {told['audit']['entries']} entries, {_verdict(told['audit'])}"
    )
    out.print(f"replay of the final: {replay}")
    out.print(f"verify it offline:   {verify}")
    for service in told["services"]:
        out.print(f"{service['name']:>10}: gRPC {service['grpc']}   metrics {service['metrics']}")
    broker, monitor = settings.broker.port, settings.broker.monitor_port
    out.print(f"{'broker':>10}: nats://127.0.0.1:{broker}   monitoring http://127.0.0.1:{monitor}")


def _command() -> str:
    """How the person has started this program, to be started again from the same place."""
    program = Path(sys.argv[0])
    return sys.argv[0] if program.name == "majlis" and not program.is_absolute() else "majlis"


def _verdict(audit: dict[str, Any]) -> str:
    return "all verified" if audit["verified"] else f"NOT verified: {audit['fault']}"
