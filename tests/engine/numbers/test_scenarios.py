"""Every vector, rule and ruling of RULES §2 has an example that runs, and every option's other values have one too."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest
import yaml

from majlis.engine import scenario
from majlis.engine.games.numbers.options import Options

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*.yaml"))
RULES_PAGE = Path(scenario.__file__).parent / "games/numbers/RULES.md"

RULES = {f"NUM-{n}" for n in range(1, 52)} | {f"NUM-O{n}" for n in range(1, 37)}
VECTORS = {f"NUM-T{n}" for n in range(1, 34)} | {"NUM-T14b"}


def scenarios() -> list[dict[str, Any]]:
    return [document for file in FILES for document in yaml.safe_load_all(file.read_text())]


def rules_named_by_tests() -> set[str]:
    """The rules and rulings that tests here are named after: test_num_12_..., test_num_o1_..."""
    text = "".join(file.read_text() for file in HERE.glob("test_*.py"))
    return {f"NUM-{name.upper()}" for name in re.findall(r"def test_num_(o?\d+)_", text)}


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_scenarios_hold(file: Path) -> None:
    report = scenario.run(file.read_text())
    assert report.ok, "\n".join(report.problems)


def test_every_vector_is_a_scenario() -> None:
    assert {each["id"] for each in scenarios()} >= VECTORS


def test_every_rule_and_ruling_has_an_example() -> None:
    named = {rule for each in scenarios() for rule in each["rules"]} | rules_named_by_tests()
    assert not RULES - named
    assert not named - RULES


def test_every_other_value_of_an_option_is_played() -> None:
    played = {(name, str(value)) for each in scenarios() for name, value in options_of(each).items()}
    missing = set()
    for name, kind in get_type_hints(Options, include_extras=True).items():
        default = getattr(Options(), name)
        if get_origin(kind) is Literal:
            others = {str(value) for value in get_args(kind) if value != default}
            missing |= {(name, value) for value in others if (name, value) not in played}
        elif not name.endswith("_ms") and not any(name == option for option, _ in played):
            missing.add((name, "another number"))
    assert not missing  # time limits: test_setup.py


def options_of(document: dict[str, Any]) -> dict[str, Any]:
    """As text: YAML reads yes and no as booleans."""
    words = {True: "yes", False: "no"}
    return {
        name: words[value] if isinstance(value, bool) else value
        for name, value in document.get("options", {}).items()
    }


@pytest.mark.parametrize("page", [RULES_PAGE, RULES_PAGE.with_name("RULES.ar.md")], ids=["en", "ar"])
def test_the_rules_pages_name_every_rule(page: Path) -> None:
    text = page.read_text()
    assert {rule for rule in RULES if not re.search(rf"\b{rule}\b", text)} == set()


def test_the_rules_page_names_every_option_with_its_default() -> None:
    page = RULES_PAGE.read_text()
    for name, kind in get_type_hints(Options, include_extras=True).items():
        default = getattr(Options(), name)
        found = re.search(rf"`{name} = {default}` \((.*?)\)", page)
        assert found, name
        if get_origin(kind) is Literal:
            others = {str(value) for value in get_args(kind)} - {str(default)}
            assert set(re.findall(r"`(.*?)`", found[1])) == others, name
