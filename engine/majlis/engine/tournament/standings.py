"""Standings and tie-breaks: integers only, always a full order.

In this order: score; sum of the opponents' scores; the same without the lowest; direct encounters among those still
tied; first places; progressive score (sum of the running scores); the draw of lots.

* Every round counts pod_size - 1 opponents, so that nobody's sum depends on the size of his pods: an empty chair of
  a short pod counts as the mean of the pod's other opponents, a bye or a void pod as opponents of one's own strength.
* An opponent's rounds without play (bye, void, forfeit, absence) count as the mean score, as the handbook of the
  international chess federation does it (C.07, "unplayed rounds"): who leaves early does not drag others down.
* Direct encounters: for each of those tied, 2 if one was ahead of him more often than behind, 0 if behind, else 1
  (also where they never met): not having met neither helps nor hurts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from majlis.engine.shuffle import Chance
from majlis.engine.tournament.scoring import bye_score, mean_score
from majlis.engine.tournament.state import PodState, TournamentState
from majlis.engine.vocabulary.tournament import Standing


class Record:
    """One entrant's tournament so far."""

    __slots__ = (
        "byes",
        "firsts",
        "forfeits",
        "no_shows",
        "opponents",
        "played",
        "pods",
        "running",
        "score",
        "strength",
    )

    def __init__(self) -> None:
        self.pods: list[PodState] = []
        """The decided ones."""
        self.score = 0
        self.running: list[int] = []
        """The score after each round."""
        self.strength = 0
        """What it counts as an opponent: its score with the mean for rounds without play."""
        self.opponents: list[int] = []
        self.played = self.byes = self.forfeits = self.no_shows = self.firsts = 0


def chance(state: TournamentState) -> Chance:
    """Where the tournament's draws come from."""
    return Chance(state.setup.rng_seed, b"", f"tournament/{state.tournament_id}")


def lots(state: TournamentState) -> dict[str, int]:
    """The draw of lots: every entrant's number from 1, the lower the better; fixed once registration is over."""
    order = chance(state).stream(0, "lots").shuffled(list(state.entrants))
    return {entrant_id: number for number, entrant_id in enumerate(order, 1)}


def standings(state: TournamentState) -> tuple[Standing, ...]:
    """The standings by what is decided so far, best first."""
    records = _records(state)
    _collect_opponents(state, records)
    lot = lots(state)
    lines = [_line(state, entrant_id, record, lot[entrant_id]) for entrant_id, record in records.items()]
    lines = [line for group in _tied(lines) for line in _with_direct(group, records)]
    lines.sort(key=lambda s: (*_first_keys(s), -s.direct, -s.firsts, -s.progressive, s.lot))
    return tuple(replace(line, place=place) for place, line in enumerate(lines, 1))


def _records(state: TournamentState) -> dict[str, Record]:
    records = {entrant_id: Record() for entrant_id in state.entrants}
    mean, for_bye = mean_score(state.setup.pod_size), bye_score(state.setup)
    for one in state.rounds:
        absent = set(records)
        for pod in one.pods:
            absent.difference_update(pod.entrants)
            for seat, entrant_id in enumerate(pod.entrants):
                _add_pod(records[entrant_id], pod, seat, mean)
        for entrant_id in one.byes:
            absent.discard(entrant_id)
            records[entrant_id].byes += 1
            records[entrant_id].score += for_bye
            records[entrant_id].strength += mean
        for entrant_id in absent if one.finished else ():
            records[entrant_id].strength += mean
        for record in records.values():
            record.running.append(record.score)
    return records


def _add_pod(record: Record, pod: PodState, seat: int, mean: int) -> None:
    entrant_id = pod.entrants[seat]
    record.forfeits += entrant_id in pod.forfeited
    record.no_shows += entrant_id in pod.no_shows
    if not pod.decided:
        return
    record.pods.append(pod)
    record.score += pod.scores[seat]
    if pod.played and entrant_id not in pod.forfeited:
        record.played += 1
        record.firsts += pod.places[seat] == 1
        record.strength += pod.scores[seat]
    else:
        record.strength += mean


def _collect_opponents(state: TournamentState, records: dict[str, Record]) -> None:
    wanted = state.setup.pod_size - 1
    for entrant_id, record in records.items():
        record.opponents += [record.strength] * (wanted * record.byes)
        for pod in record.pods:
            met = [records[other].strength for other in pod.entrants if other != entrant_id]
            if not pod.played:
                met = [record.strength] * wanted
            record.opponents += met + [sum(met) // len(met)] * (wanted - len(met))


def _line(state: TournamentState, entrant_id: str, record: Record, lot: int) -> Standing:
    entrant = state.entrants[entrant_id]
    return Standing(
        entrant_id=entrant_id,
        name=entrant.entrant.name,
        score=record.score,
        opponents=sum(record.opponents),
        opponents_cut=sum(record.opponents) - min(record.opponents, default=0),
        firsts=record.firsts,
        progressive=sum(record.running),
        lot=lot,
        played=record.played,
        byes=record.byes,
        forfeits=record.forfeits,
        no_shows=record.no_shows,
        withdrawn=entrant.withdrawn,
    )


def _first_keys(line: Standing) -> tuple[int, int, int]:
    return -line.score, -line.opponents, -line.opponents_cut


def _tied(lines: Iterable[Standing]) -> Iterable[list[Standing]]:
    groups: dict[tuple[int, int, int], list[Standing]] = {}
    for line in lines:
        groups.setdefault(_first_keys(line), []).append(line)
    return groups.values()


def _with_direct(group: list[Standing], records: dict[str, Record]) -> Iterator[Standing]:
    tied = {line.entrant_id for line in group}
    for line in group:
        balance = _balance(line.entrant_id, records[line.entrant_id].pods, tied)
        ahead = sum((net > 0) - (net < 0) for net in balance.values())
        yield replace(line, direct=len(group) - 1 + ahead)


def _balance(entrant_id: str, pods: Iterable[PodState], tied: set[str]) -> dict[str, int]:
    """Opponent among those tied -> how much more often one was ahead of him than behind."""
    balance: dict[str, int] = {}
    for pod in pods:
        if not pod.played:
            continue
        own = pod.places[pod.entrants.index(entrant_id)]
        for other, place in zip(pod.entrants, pod.places, strict=True):
            if other in tied and other != entrant_id:
                balance[other] = balance.get(other, 0) + (own < place) - (own > place)
    return balance
