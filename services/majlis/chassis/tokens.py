"""Signed tokens: who may sit, who is playing, which service calls. EdDSA-signed JWTs, checked without any look-up.

The lobby's key signs all of them. A token's audience (`aud`) is its kind, so one kind never passes for another.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any, Final, Literal

import grpc.aio
import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)
from msgspec import Struct

from majlis.chassis import metrics
from majlis.engine.decider import Rejected
from majlis.engine.vocabulary.rejection import RejectionCode

KEY_NAMES: Final = ("lobby", "archive")
ALGORITHM: Final = "EdDSA"
ISSUER: Final = "majlis"

Role = Literal["lobby", "table", "archive", "rating", "operator", "director"]


class SeatClaims(Struct, frozen=True):
    """May sit in this seat of this match."""

    match_id: str
    seat: int
    player_id: str


class PlayerClaims(Struct, frozen=True):
    """Is this player."""

    player_id: str
    name: str


class ServiceClaims(Struct, frozen=True):
    """Is a service or a person of the staff, in this role."""

    role: str
    name: str


class Signer:
    """Signs tokens with a private key. Times to live are in seconds."""

    def __init__(self, key: Ed25519PrivateKey, now_s: Callable[[], float] = time.time) -> None:
        self._key = key
        self._now_s = now_s

    @property
    def verifier(self) -> Verifier:
        return Verifier(self._key.public_key(), self._now_s)

    def seat(self, match_id: str, seat: int, player_id: str, ttl_s: int = 24 * 3600) -> str:
        return self._sign("seat", ttl_s, sub=player_id, match=match_id, seat=seat)

    def player(self, player_id: str, name: str, ttl_s: int = 7 * 24 * 3600) -> str:
        return self._sign("player", ttl_s, sub=player_id, name=name)

    def service(self, role: Role, name: str, ttl_s: int = 3600) -> str:
        return self._sign("service", ttl_s, sub=name, role=role)

    def expires_at_ms(self, ttl_s: int) -> int:
        """Unix time at which a token signed now stops being good."""
        return int((self._now_s() + ttl_s) * 1000)

    def _sign(self, audience: str, ttl_s: int, **claims: object) -> str:
        now = int(self._now_s())
        payload = {"iss": ISSUER, "aud": audience, "iat": now, "exp": now + ttl_s, **claims}
        return jwt.encode(payload, self._key, algorithm=ALGORITHM)


class Verifier:
    """Checks tokens with the public key. Raises Rejected: UNAUTHENTICATED where a token is missing, expired, of another
    kind or not ours, FORBIDDEN where it is good but not for this."""

    def __init__(self, key: Ed25519PublicKey, now_s: Callable[[], float] = time.time) -> None:
        self._key = key
        self._now_s = now_s

    def seat(self, token: str, match_id: str) -> SeatClaims:
        claims = self._check(token, "seat", "get a seat token from the lobby (GetSeat)")
        if claims["match"] != match_id:
            raise _forbidden("the seat token is for another match", "attach with the token of this match")
        return SeatClaims(str(claims["match"]), int(claims["seat"]), str(claims["sub"]))

    def player(self, token: str) -> PlayerClaims:
        claims = self._check(token, "player", "sign in at the lobby (SignIn) and send its token")
        return PlayerClaims(str(claims["sub"]), str(claims["name"]))

    def service(self, token: str, roles: Collection[str]) -> ServiceClaims:
        claims = self._check(token, "service", "call with a service token signed by the lobby's key")
        if claims["role"] not in roles:
            raise _forbidden(
                f"role {claims['role']!r} may not do this",
                f"call with a token of a role among: {', '.join(sorted(roles))}",
            )
        return ServiceClaims(str(claims["role"]), str(claims["sub"]))

    def _check(self, token: str, audience: str, remedy: str) -> dict[str, Any]:
        if not token:
            raise _unauthenticated("missing", f"a {audience} token is needed", remedy)
        needed = {"seat": ["match", "seat"], "player": ["name"], "service": ["role"]}[audience]
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                self._key,
                algorithms=[ALGORITHM],
                audience=audience,
                issuer=ISSUER,
                options={"require": ["exp", "sub", *needed], "verify_exp": False, "verify_iat": False},
            )
        except jwt.InvalidAudienceError:
            raise _unauthenticated("kind", f"this is not a {audience} token", remedy) from None
        except jwt.InvalidTokenError:
            raise _unauthenticated("invalid", "the token is not one of ours", remedy) from None
        if claims["exp"] <= self._now_s():
            raise _unauthenticated("expired", f"the {audience} token has expired", remedy)
        return claims


def bearer(context: grpc.aio.ServicerContext[Any, Any]) -> str:
    """The token of a call's `authorization: Bearer <token>`; empty where there is none."""
    for key, value in context.invocation_metadata() or ():
        if key == "authorization" and isinstance(value, str) and value.lower().startswith("bearer "):
            return value[7:].strip()
    return ""


def credentials(token: str) -> tuple[tuple[str, str], ...]:
    """Call metadata that carries a token."""
    return (("authorization", f"Bearer {token}"),)


def make_keys(keys_dir: Path) -> list[Path]:
    """Makes the key pairs that are missing (PEM; private ones readable by the owner only); returns what it wrote."""
    keys_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    written = []
    for name in KEY_NAMES:
        private = keys_dir / f"{name}.key"
        if private.exists():
            key = load_private_key(private)
        else:
            key = Ed25519PrivateKey.generate()
            write_private(private, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
            written.append(private)
        public = keys_dir / f"{name}.pub"
        if not public.exists():
            write_private(
                public, key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo), 0o644
            )
            written.append(public)
    return written


def load_private_key(path: Path) -> Ed25519PrivateKey:
    """Raises OSError, or ValueError that names the file."""
    try:
        key = load_pem_private_key(path.read_bytes(), None)
    except ValueError:
        raise ValueError(f"{path} is no PEM file of a private key") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise ValueError(f"{path} holds no Ed25519 key")
    return key


def load_public_key(path: Path) -> Ed25519PublicKey:
    """Raises OSError, or ValueError that names the file."""
    try:
        key = load_pem_public_key(path.read_bytes())
    except ValueError:
        raise ValueError(f"{path} is no PEM file of a public key") from None
    if not isinstance(key, Ed25519PublicKey):
        raise ValueError(f"{path} holds no Ed25519 key")
    return key


def load_signer(keys_dir: Path) -> Signer:
    return Signer(load_private_key(keys_dir / "lobby.key"))


def load_verifier(keys_dir: Path) -> Verifier:
    return Verifier(load_public_key(keys_dir / "lobby.pub"))


def write_private(path: Path, content: bytes, mode: int = 0o600) -> None:
    """Whole or not at all: a crash between the two steps leaves no half-written key under the final name."""
    temporary = path.with_suffix(path.suffix + ".new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def _unauthenticated(reason: str, detail: str, remedy: str) -> Rejected:
    metrics.AUTH_FAILURES.labels(reason).inc()
    return Rejected(RejectionCode.UNAUTHENTICATED, detail, remedy)


def _forbidden(detail: str, remedy: str) -> Rejected:
    metrics.AUTH_FAILURES.labels("forbidden").inc()
    return Rejected(RejectionCode.FORBIDDEN, detail, remedy)
