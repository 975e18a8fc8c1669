"""Tournaments as rows and as a progress bar."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from google.protobuf.json_format import MessageToDict
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from majlis.cli.output import err, note, print_json
from majlis.cli.texts import halves, words
from majlis.cli.tournament.calls import ENDED
from majlis.v1 import lobby_pb2, tournament_pb2

STANDINGS: Final = {
    "place": "place", "name": "name", "points": "points", "opponents_points": "opp", "opponents_cut_points": "opp-1",
    "direct_points": "direct", "firsts": "firsts", "progressive_points": "prog", "lot": "lot", "played": "played",
    "byes": "byes", "forfeits": "forfeits", "no_shows": "no-shows", "withdrawn": "withdrawn",
}  # fmt: skip
PODS: Final = {
    "pod": "pod",
    "entrants": "entrants in seat order",
    "match": "match",
    "status": "status",
    "places": "places",
}
TOURNAMENTS: Final = {
    "tournament": "tournament", "name": "name", "game": "game", "stage": "stage", "round": "round", "rounds": "of",
    "entrants": "entrants", "pods_open": "open pods",
}  # fmt: skip

HALF_POINTS: Final = ("opponents", "opponents_cut", "direct", "progressive")


def standing(line: tournament_pb2.Standing) -> dict[str, Any]:
    """All integers of a standing; `points` and the `…_points` are the half points as people write them."""
    row = MessageToDict(line, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
    row["points"] = halves(line.score)
    for name in HALF_POINTS:
        row[f"{name}_points"] = halves(getattr(line, name))
    return row


def pod(summary: lobby_pb2.PodSummary) -> dict[str, Any]:
    return {
        "pod": summary.pod.pod,
        "entrants": list(summary.pod.entrant_ids),
        "match": summary.pod.match_id,
        "status": words(tournament_pb2.PodStatus.Name(summary.status), "POD_STATUS_"),
        "places": list(summary.places),
        "scores": list(summary.scores),
        "totals": list(summary.totals),
    }


def tournament(summary: lobby_pb2.TournamentSummary) -> dict[str, Any]:
    return {
        "tournament": summary.tournament_id,
        "name": summary.setup.name,
        "game": summary.setup.game,
        "stage": words(tournament_pb2.TournamentStage.Name(summary.stage), "TOURNAMENT_STAGE_"),
        "paused": summary.paused,
        "round": summary.round,
        "rounds": summary.setup.rounds,
        "pod_size": summary.setup.pod_size,
        "entrants": summary.entrants,
        "pods_open": summary.pods_open,
        "pods_decided": summary.pods_decided,
        "pods_total": summary.pods_total,
        "started_at_ms": summary.started_at_ms,
        "ended_at_ms": summary.ended_at_ms,
    }


def expected_pods(summary: lobby_pb2.TournamentSummary) -> int:
    """How many pods the whole tournament will have, as far as can be said now."""
    if summary.stage in ENDED:
        return summary.pods_total
    size = max(summary.setup.pod_size, 1)
    return max(summary.pods_total, summary.setup.rounds * -(-summary.entrants // size))


def follower(*, as_json: bool) -> Callable[[lobby_pb2.TournamentSummary], None]:
    """Shows each change of a tournament: a JSON line, or a progress bar that ends with the tournament."""
    if as_json:
        return lambda summary: print_json(tournament(summary))
    return Bar()


class Bar:
    """A progress bar on stderr, in decided pods; where stderr is no terminal, a line for each round."""

    def __init__(self) -> None:
        self._progress = Progress(
            TextColumn("[bold]{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("matches"),
            TimeElapsedColumn(),
            console=err,
            disable=not err.is_terminal,
        )
        self._task = self._progress.add_task("waiting", total=None)
        self._told = ""

    def __call__(self, summary: lobby_pb2.TournamentSummary) -> None:
        self._progress.start()
        stage = words(tournament_pb2.TournamentStage.Name(summary.stage), "TOURNAMENT_STAGE_")
        where = f"round {summary.round} of {summary.setup.rounds}" if summary.round else "starting"
        where = stage if summary.stage in ENDED else "paused" if summary.paused else where
        if where != self._told and not err.is_terminal:
            note(f"{where}: {summary.pods_decided} of {expected_pods(summary)} matches")
        self._told = where
        self._progress.update(
            self._task, description=where, completed=summary.pods_decided, total=expected_pods(summary)
        )
        if summary.stage in ENDED:
            self.close()

    def close(self) -> None:
        self._progress.stop()
