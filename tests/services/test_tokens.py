"""Tokens: good ones say who somebody is, all others are refused with a code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from majlis.chassis.tokens import (
    SeatClaims,
    ServiceClaims,
    Signer,
    Verifier,
    load_private_key,
    load_public_key,
    load_signer,
    load_verifier,
    make_keys,
)
from majlis.engine.decider import Rejected

KEY = Ed25519PrivateKey.from_private_bytes(b"1" * 32)
OTHER_KEY = Ed25519PrivateKey.from_private_bytes(b"2" * 32)
NOW_S = 1_900_000_000.0

signer = Signer(KEY, lambda: NOW_S)
verifier = Verifier(KEY.public_key(), lambda: NOW_S)


def refused(code: str, work: Callable[[], object]) -> None:
    with pytest.raises(Rejected) as caught:
        work()
    assert caught.value.code.name == code
    assert caught.value.remedy


def test_each_kind_of_token_says_what_was_signed() -> None:
    assert verifier.seat(signer.seat("3-abcd", 2, "p1"), "3-abcd") == SeatClaims("3-abcd", 2, "p1")
    assert verifier.player(signer.player("p1", "Ann")).name == "Ann"
    token = signer.service("operator", "cli")
    assert verifier.service(token, {"operator", "director"}) == ServiceClaims("operator", "cli")
    assert signer.verifier.player(signer.player("p1", "Ann")).player_id == "p1"


def test_a_token_is_good_for_one_match_and_one_kind_only() -> None:
    refused("FORBIDDEN", lambda: verifier.seat(signer.seat("3-abcd", 2, "p1"), "3-other"))
    refused("UNAUTHENTICATED", lambda: verifier.player(signer.seat("3-abcd", 2, "p1")))
    refused("UNAUTHENTICATED", lambda: verifier.seat(signer.player("p1", "Ann"), "3-abcd"))
    refused("UNAUTHENTICATED", lambda: verifier.service(signer.player("p1", "Ann"), {"operator"}))
    refused("FORBIDDEN", lambda: verifier.service(signer.service("rating", "r"), {"operator"}))


def test_missing_garbled_foreign_and_expired_tokens_are_refused() -> None:
    good = signer.player("p1", "Ann", ttl_s=60)
    foreign = Signer(OTHER_KEY, lambda: NOW_S).player("p1", "Ann")
    later = Verifier(KEY.public_key(), lambda: NOW_S + 60)
    for token in ("", "x", "a.b.c", good[:-2], good.replace(".", ".e30", 1), foreign):
        refused("UNAUTHENTICATED", lambda token=token: verifier.player(token))  # type: ignore[misc]
    refused("UNAUTHENTICATED", lambda: later.player(good))
    assert Verifier(KEY.public_key(), lambda: NOW_S + 59).player(good).name == "Ann"


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
def test_a_token_cannot_choose_a_weaker_algorithm(algorithm: str) -> None:
    claims = {"iss": "majlis", "aud": "player", "sub": "p1", "name": "Ann", "exp": NOW_S + 60}
    key = "" if algorithm == "none" else "k" * 32
    token = jwt.encode(claims, key, algorithm=algorithm)
    refused("UNAUTHENTICATED", lambda: verifier.player(token))


@pytest.mark.parametrize("missing", ["exp", "sub", "name", "iss", "aud"])
def test_a_token_without_a_claim_is_refused_even_when_it_is_signed(missing: str) -> None:
    claims = {"iss": "majlis", "aud": "player", "sub": "p1", "name": "Ann", "exp": int(NOW_S) + 60}
    del claims[missing]
    token = jwt.encode(claims, KEY, algorithm="EdDSA")
    refused("UNAUTHENTICATED", lambda: verifier.player(token))


def test_keys_are_made_once_private_and_readable_again(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    assert {path.name for path in make_keys(keys)} == {"lobby.key", "lobby.pub", "archive.key", "archive.pub"}
    assert keys.stat().st_mode & 0o777 == 0o700
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in keys.glob("*.key"))
    before = (keys / "lobby.key").read_bytes()
    (keys / "lobby.pub").unlink()
    assert [path.name for path in make_keys(keys)] == ["lobby.pub"]
    assert (keys / "lobby.key").read_bytes() == before
    assert load_verifier(keys).player(load_signer(keys).player("p1", "Ann")).name == "Ann"
    message = b"statement"
    load_public_key(keys / "archive.pub").verify(
        load_private_key(keys / "archive.key").sign(message), message
    )
