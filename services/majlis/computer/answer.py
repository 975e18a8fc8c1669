"""From the bytes of a request to the bytes of a reply: pure, so that it is tested without a broker."""

from __future__ import annotations

from majlis.engine.decider import Rejected
from majlis.engine.options import complete
from majlis.engine.registry import registered
from majlis.engine.unreadable import Unreadable
from majlis.engine.vocabulary.computer import ComputerReply, ComputerRequest
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.wire import (
    decode_computer_request,
    decode_happening,
    decode_match_view,
    decode_seat_private_view,
    encode_computer_reply,
)


def read_request(stored: bytes) -> ComputerRequest:
    """Raises Rejected(MALFORMED)."""
    try:
        return decode_computer_request(stored)
    except Unreadable as unreadable:
        raise _malformed(str(unreadable)) from None


def answer(request: ComputerRequest) -> bytes:
    """The serialised reply; the same for the same request, since a player's only chance is the request's key.

    Raises Rejected: MALFORMED, UNKNOWN_GAME, UNKNOWN_RULES_VERSION, BAD_OPTION.
    """
    player = registered(request.game)
    defaults = player.game.rules_versions.get(request.rules_version)
    if defaults is None:
        raise Rejected(
            RejectionCode.UNKNOWN_RULES_VERSION,
            f"{request.game} has no rules version {request.rules_version} here",
            "Update the computer workers before the tables.",
        )
    try:
        public = decode_match_view(request.public)
        private = decode_seat_private_view(request.private)
        history = [decode_happening(stored) for stored in request.history]
    except Unreadable as unreadable:
        raise _malformed(str(unreadable)) from None
    if public.game_view is None or private.game_view is None:
        raise _malformed("the game's view is missing")
    if request.seat not in public.waiting_for or private.seat != request.seat:
        raise _malformed(f"the view does not wait for seat {request.seat}")
    options = complete(defaults, request.options)
    command, thinking_ms = player.computer.choose(
        public, private, history, options, request.level, request.key
    )
    return encode_computer_reply(ComputerReply(command=command, thinking_ms=thinking_ms))


def _malformed(why: str) -> Rejected:
    return Rejected(
        RejectionCode.MALFORMED, why, "Send a ComputerRequest with the views of the seat asked for."
    )
