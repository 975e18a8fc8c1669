"""How many pods of which size a round has, and who rests."""

from __future__ import annotations

from collections.abc import Sequence


def pod_sizes(entrants: int, pod_size: int, min_pod_size: int) -> tuple[int, list[int]]:
    """The number of byes, and the sizes of the pods, largest first.

    As few byes as can be; then as few pods as can be, whose sizes differ by one at most. So five entrants in pods of
    4 play 3 + 2 where the game allows 2, and 4 with one bye where it does not.
    """
    for byes in range(entrants):
        playing = entrants - byes
        pods = -(-playing // pod_size)
        if pods * min_pod_size <= playing:
            size, larger = divmod(playing, pods)
            return byes, [size + 1] * larger + [size] * (pods - larger)
    return entrants, []


def choose_byes(ranking: Sequence[str], byes_so_far: Sequence[int], byes: int) -> set[str]:
    """Who rests: the lowest ranked of those with the fewest byes, so nobody has a second before all have had one.

    `byes_so_far` by place in the ranking. It counts every bye of the tournament: leaving and returning earns none.
    """
    worst_first = sorted(range(len(ranking)), key=lambda place: (byes_so_far[place], -place))
    return {ranking[place] for place in worst_first[:byes]}
