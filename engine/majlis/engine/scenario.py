"""Executable rule examples: a position, what is played, and what must come of it, in YAML.

A text holds one or more documents, divided by `---`; each is one scenario:

    id: SND-T5                     # unique; files are named after it, further documents SND-T5.reverse …
    game: sounding
    title: The replaced card lies under the swallowed column   # optional
    rules: [SND-8, SND-15, SND-O4] # what it is an example of: at least one
    rules_version: 1               # optional: the newest
    options: {swallow_order: column_first}   # optional: those that differ from the rules version's defaults
    rng_seed: any text             # optional: the id. Where chance comes from
    position: {…}                  # the game's: see its notation.py
    play:                          # optional
      - seat: 0
        command: take_discard      # the command's stored name without the game's prefix; or `fallback`
        args: {cell: r3c1}         # optional, the game's
        rejected: WRONG_PHASE      # optional: the code of the refusal; without it the step must be accepted
        expect: {…}                # optional, the game's: checked after this step, with this step's events
    expect: {…}                    # optional, the game's: checked at the end, with all events

An unknown key is an error. Beyond what is expected, each step checks that a command is accepted exactly when
`legal` lists it, and that no card appears or vanishes. A position may be one that is never reached in play.
A game's part is three functions of its notation: `position_from`, `command_from` and `check`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Annotated, Any, Final

import msgspec
import yaml
from msgspec import Meta, Struct

from majlis.engine import options, registry
from majlis.engine.decider import Emitter, Game, Rejected
from majlis.engine.shuffle import Chance
from majlis.engine.vocabulary.entry import Command, Event, Observed
from majlis.engine.vocabulary.match import Option
from majlis.engine.vocabulary.rejection import RejectionCode

FALLBACK: Final = "fallback"
"""The command that stands for the move made for a silent seat."""

Text = Annotated[str, Meta(min_length=1)]


class Step(Struct, frozen=True, forbid_unknown_fields=True):
    """One command of one seat."""

    seat: int
    command: Text
    args: dict[str, Any] = {}
    rejected: Text | None = None
    expect: dict[str, Any] = {}


class Scenario(Struct, frozen=True, forbid_unknown_fields=True):
    """One example, as it is written."""

    id: Text
    game: Text
    rules: Annotated[tuple[Text, ...], Meta(min_length=1)]
    position: dict[str, Any]
    title: str = ""
    rules_version: int = 0
    options: dict[str, Any] = {}
    rng_seed: str | None = None
    play: tuple[Step, ...] = ()
    expect: dict[str, Any] = {}


class Finding(Struct, frozen=True):
    """What became of one scenario: no problems means it holds."""

    id: str
    game: str
    title: str
    rules: tuple[str, ...]
    problems: tuple[str, ...]


class Report(Struct, frozen=True):
    """What became of a text's scenarios."""

    findings: tuple[Finding, ...]

    @property
    def ok(self) -> bool:
        """Whether there was a scenario and all hold."""
        return bool(self.findings) and not self.problems

    @property
    def problems(self) -> tuple[str, ...]:
        """Each with the id of its scenario in front."""
        return tuple(f"{finding.id}: {problem}" for finding in self.findings for problem in finding.problems)


def run(text: str) -> Report:
    """Runs every scenario of the text. Never raises: what cannot be read is a problem."""
    findings: list[Finding] = []
    seen: set[str] = set()
    try:
        for number, document in enumerate(yaml.safe_load_all(text), start=1):
            finding = _run_document(document, f"document {number}")
            if finding.id in seen:
                finding = msgspec.structs.replace(
                    finding, problems=("this id is used twice", *finding.problems)
                )
            seen.add(finding.id)
            findings.append(finding)
    except yaml.YAMLError as error:
        findings.append(Finding("text", "", "", (), (f"is no YAML: {error}",)))
    return Report(tuple(findings))


def _run_document(document: Any, place: str) -> Finding:
    try:
        scenario = msgspec.convert(document, Scenario)
    except msgspec.ValidationError as error:
        name = document.get("id", place) if isinstance(document, dict) else place
        return Finding(str(name), "", "", (), (f"is no scenario: {error}",))
    try:
        problems = tuple(_Run(scenario).problems())
    except Rejected as error:
        problems = (f"cannot be set up: {error}. {error.remedy}",)
    except ValueError as error:
        problems = (f"cannot be read: {error}",)
    return Finding(scenario.id, scenario.game, scenario.title, scenario.rules, problems)


class _Run:
    """One scenario being played."""

    def __init__(self, scenario: Scenario) -> None:
        entry = registry.registered(scenario.game)
        self.scenario = scenario
        self.game: Game[Any] = entry.game
        self.notation = entry.notation
        seed = sha256((scenario.rng_seed if scenario.rng_seed is not None else scenario.id).encode()).digest()
        chance = Chance(seed, b"", scenario.id)
        self.state = self.notation.position_from(scenario.position, self._options(), chance)
        self.is_whole = self.game.conserved(self.state)
        self.events: list[Event] = []

    def _options(self) -> Any:
        versions = self.game.rules_versions
        version = self.scenario.rules_version or max(versions)
        if version not in versions:
            raise ValueError(f"{self.game.key} has no rules version {version}")
        defaults = versions[version]
        chosen = [
            Option(name=name, value=_option_text(value, getattr(defaults, name, None)))
            for name, value in self.scenario.options.items()
        ]
        return options.complete(defaults, chosen)

    def problems(self) -> Iterator[str]:
        """Plays, and yields what is not as it should be."""
        if self.game.deal(self.state) == 0:
            yield from self._follow(self.game.start(self.state))
        for number, step in enumerate(self.scenario.play, start=1):
            before = len(self.events)
            found = list(self._step(step))
            yield from (f"step {number} ({step.command}): {problem}" for problem in found)
            yield from self._check(step.expect, self.events[before:], f"step {number} ({step.command}): ")
            if found:
                return  # what follows would be played from another position
        yield from self._check(self.scenario.expect, self.events, "at the end: ")

    def _check(self, expected: Mapping[str, Any], events: list[Event], place: str) -> Iterator[str]:
        for problem in self.notation.check(self.state, events, expected):
            yield place + problem

    def _step(self, step: Step) -> Iterator[str]:
        command = self._command(step)
        is_legal = command in self.game.legal(self.state, step.seat)
        try:
            emitted = self._decided(step.seat, command)
        except Rejected as refusal:
            if is_legal:
                yield f"`legal` lists it, but it is refused: {refusal}"
            if step.rejected is None:
                yield f"is refused: {refusal}"
            elif refusal.code.name != step.rejected:
                yield f"is refused as {refusal.code.name} ({refusal.detail}), not as {step.rejected}"
            return
        if not is_legal:
            yield "is accepted, but `legal` does not list it"
        if step.rejected is not None:
            yield f"is accepted, not refused as {step.rejected}"
        yield from self._follow(emitted)

    def _command(self, step: Step) -> Command:
        if step.rejected is not None and step.rejected not in RejectionCode.__members__:
            raise ValueError(f"there is no rejection code {step.rejected}")
        if step.command == FALLBACK:
            return self.game.fallback(self.state, step.seat)
        command: Command = self.notation.command_from(step.command, step.args)
        return command

    def _decided(self, seat: int, command: Command) -> Emitter[Any]:
        """What the match does before it asks the game, then the game's decision."""
        deadline = self.game.deadline(self.state)
        if deadline is None or seat not in deadline.seats:
            raise Rejected(
                RejectionCode.NOT_YOUR_TURN, f"seat {seat} has nothing to decide", "Wait for its turn."
            )
        return self.game.decide(self.state, seat, command, Observed())

    def _follow(self, emitted: Emitter[Any]) -> Iterator[str]:
        """Folds the events one by one: the decision's own state must be what the log gives."""
        for event in emitted:
            self.state = self.game.evolve(self.state, event)
            self.events.append(event)
            if self.is_whole and not self.game.conserved(self.state):
                yield f"{type(event).__name__} makes a card appear or vanish"
        if self.state != emitted.state:
            yield "the decision's state is not what its events make"


def _option_text(value: Any, default: Any) -> str:
    """A value as YAML reads it -> as options are written: yes and no are words where the option's values are."""
    if isinstance(value, bool):
        return ("yes" if value else "no") if isinstance(default, str) else str(value).lower()
    return "null" if value is None else str(value)
