"""What a tournament is played by when its director does not say."""

from __future__ import annotations

from majlis.engine.registry import GAMES
from majlis.lobby.tournaments import read_setup
from majlis.v1 import match_pb2, tournament_pb2


def options_of(**chosen: str) -> dict[str, str]:
    options = [match_pb2.Option(name=name, value=value) for name, value in chosen.items()]
    setup = tournament_pb2.TournamentSetup(name="Cup", game="sounding", rounds=1, pod_size=4, options=options)
    return {option.name: option.value for option in read_setup(setup).options}


def test_a_tournament_s_tables_cannot_stall_unless_the_director_wants_it() -> None:
    """RULES 6.3 and SND-O12."""
    assert options_of() == {"stall_limit": "40"}
    assert options_of(stall_limit="0", turn_ms="5000") == {"stall_limit": "0", "turn_ms": "5000"}


def test_every_game_s_tournament_options_are_options_it_has() -> None:
    for key, registered in GAMES.items():
        setup = tournament_pb2.TournamentSetup(name="Cup", game=key, rounds=1, pod_size=3)
        names = {option.name for option in read_setup(setup).options}
        assert names == {option.name for option in registered.tournament_options}
