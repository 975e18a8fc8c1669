"""The runner of scenarios notices whatever does not hold. The games' own tests run their files."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from majlis.engine import registry, scenario

HERE = Path(__file__).parent
FILES = sorted(path for key in registry.GAMES for path in (HERE / key).glob("*.yaml"))

GOOD = """
id: SND-T5
game: sounding
rules: [SND-8, SND-15]
position:
  grids: ["5 ? ? ? / 5 ? ? ? / 9 ? ? ?", hidden]
  discard: [1, 5]
play:
  - {seat: 0, command: take_discard, args: {cell: r3c1}, expect: {turn: 1}}
expect: {discard_top: [9, 5, 5, 5]}
"""


def problems(text: str) -> str:
    report = scenario.run(text)
    assert not report.ok
    assert report.problems
    return "\n".join(report.problems)


def test_every_game_has_scenarios_and_no_id_is_used_twice() -> None:
    ids = [document["id"] for path in FILES for document in yaml.safe_load_all(path.read_text())]
    assert {path.parent.name for path in FILES} == set(registry.GAMES)
    assert len(set(ids)) == len(ids)


def test_a_scenario_that_holds_has_no_problems() -> None:
    report = scenario.run(GOOD)
    assert report.ok
    (finding,) = report.findings
    assert (finding.id, finding.game, finding.rules) == ("SND-T5", "sounding", ("SND-8", "SND-15"))


CHANGES: dict[str, tuple[str, str, str]] = {
    "another end": ("[9, 5, 5, 5]", "[5, 5, 5, 9]", "at the end: the discard pile is 1 9 5 5 5"),
    "another step": ("turn: 1", "turn: 0", "step 1 (take_discard): turn is 1, not 0"),
    "a refusal that does not come": (
        "cell: r3c1}",
        "cell: r3c1}, rejected: WRONG_PHASE",
        "step 1 (take_discard): is accepted, not refused as WRONG_PHASE",
    ),
    "an unexpected refusal": ("seat: 0", "seat: 1", "step 1 (take_discard): is refused: NOT_YOUR_TURN"),
    "another refusal": (
        "seat: 0, command: take_discard, args: {cell: r3c1}",
        "seat: 1, command: draw, rejected: ILLEGAL_MOVE",
        "is refused as NOT_YOUR_TURN",
    ),
    "an unknown code": (
        "args: {cell: r3c1}",
        "args: {cell: r3c1}, rejected: NO_SUCH",
        "no rejection code NO_SUCH",
    ),
    "a misspelt key": ("command: take", "reject: X, command: take", "unknown field `reject`"),
    "an unknown command": ("take_discard", "take_all", "no command 'take_all'"),
    "a cell that is none": ("r3c1", "r9c9", "'r9c9' is not a cell"),
    "an unknown expectation": ("turn: 1", "turns: 1", "nothing is called 'turns'"),
    "an unknown game": ("game: sounding", "game: chess", "UNKNOWN_GAME"),
    "no rules": ("[SND-8, SND-15]", "[]", "length >= 1"),
    "an unknown rules version": ("rules:", "rules_version: 9\nrules:", "no rules version 9"),
    "an unknown option": ("rules:", "options: {speed: fast}\nrules:", "no option 'speed'"),
    "an option's other value": ("rules:", "options: {reveal: never}\nrules:", "reveal may be"),
    "no grid": ("hidden]", "'5 5']", "a grid has 12 cells"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_what_does_not_hold_is_a_problem(name: str) -> None:
    old, new, words = CHANGES[name]
    assert old in GOOD
    assert words in problems(GOOD.replace(old, new, 1))


def test_a_fresh_match_begins_with_its_first_deal() -> None:
    text = "{id: A, game: sounding, rules: [SND-4], position: {fresh: 3}, expect: {only: [dealt], deal: 1}}"
    assert scenario.run(text).problems == ()


def test_the_fallback_is_a_command() -> None:
    text = GOOD.replace("command: take_discard, args: {cell: r3c1}, expect: {turn: 1}", "command: fallback")
    assert "discard pile is 1 5" in problems(text)


def test_yes_and_no_are_words_where_an_option_has_them() -> None:
    assert scenario.run(GOOD.replace("rules:", "options: {close_by_flip: no}\nrules:")).ok


def test_several_documents_are_several_scenarios_and_share_no_id() -> None:
    report = scenario.run(GOOD + "---" + GOOD.replace("SND-T5", "SND-T5.again"))
    assert (report.ok, len(report.findings)) == (True, 2)
    assert "this id is used twice" in problems(GOOD + "---" + GOOD)


def test_one_bad_scenario_does_not_hide_the_others() -> None:
    report = scenario.run(GOOD.replace("seat: 0", "seat: 1") + "---" + GOOD.replace("SND-T5", "SND-T6"))
    assert [bool(finding.problems) for finding in report.findings] == [True, False]


@pytest.mark.parametrize("text", ["", "{", "- 1\n- 2", "id: [", "just words", "id: 5", "\x00"])
def test_what_is_no_scenario_is_said(text: str) -> None:
    report = scenario.run(text)
    assert not report.ok


def test_chance_comes_from_the_seed_in_the_text() -> None:
    fresh = "{id: A, game: sounding, rules: [SND-4], rng_seed: '%s', position: {fresh: 2}, expect: {discard: [99]}}"
    first, again, other = (problems(fresh % name) for name in ("a", "a", "b"))
    assert first == again
    assert scenario.run("---".join(fresh % name for name in "abcdefgh")).problems != (first,) * 8
    assert other
