"""The Play stream: whole matches, resuming, and what it may not do."""

from __future__ import annotations

import random

from majlis.engine import match
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.engine.vocabulary.wire import decode_match_view, decode_seat_private_view, fill_command
from majlis.v1 import entry_pb2, sounding_pb2, table_pb2
from tests.support.table import MATCH
from tests.support.table_edge import Stream, edge, take_seat


async def test_a_whole_match_is_played_over_one_stream() -> None:
    rng = random.Random(5)
    async with edge() as edged:
        await edged.table.open()
        stream = Stream(edged)
        attach = [
            table_pb2.Attach(route=seat + 1, match_id=MATCH, seat_token=edged.seat_token(seat))
            for seat in range(2)
        ]
        take = [
            table_pb2.Act(
                route=seat + 1, command_id=f"t{seat}", decision_id=match.SEATING, command=take_seat()
            )
            for seat in range(2)
        ]
        await stream.send(attach=attach, act=take)
        moves = 0
        while True:
            await stream.read()
            if MATCH not in stream.views or len(stream.answers) < moves + 2:
                continue
            view = decode_match_view(stream.views[MATCH])
            if view.ended is not None:
                break
            if not view.started:
                continue
            seat = view.waiting_for[0]
            state = edged.table.live.stored
            assert state is not None
            private = decode_seat_private_view(stream.private[seat + 1])
            assert private == match.private_view(state, seat), "the seat is shown what is stored"
            command = entry_pb2.Command()
            fill_command(command, rng.choice(list(match.game_of(state).legal(state.game_state, seat))))
            moves += 1
            act = table_pb2.Act(
                route=seat + 1, command_id=f"m{moves}", decision_id=view.decision_id, command=command
            )
            await stream.send(act=[act])
        assert all(answer.HasField("accepted") for answer in stream.answers.values())
        assert moves > 20


async def test_a_client_resumes_from_the_version_it_saw() -> None:
    async with edge() as edged:
        await edged.table.open()
        token = edged.seat_token(0)
        first = Stream(edged)
        await first.send(attach=[table_pb2.Attach(route=1, match_id=MATCH, seat_token=token)])
        await first.read()
        first.call.cancel()
        seen = first.version[1]
        resumed = Stream(edged)
        attach = table_pb2.Attach(route=4, match_id=MATCH, seat_token=token, have_view_version=seen)
        await resumed.send(attach=[attach])
        frame = await resumed.read()
        assert frame.attached[0].seat == 0
        assert not frame.updates, "it has the newest view already"
        await edged.table.seat_everybody()
        while resumed.version.get(4, 0) < 3:
            await resumed.read()


async def test_what_a_stream_may_not_do_is_answered_and_the_stream_goes_on() -> None:
    async with edge() as edged:
        await edged.table.open()
        stream = Stream(edged)
        flip = entry_pb2.Command(sounding_flip=sounding_pb2.SoundingFlip(cell=1))
        mine = edged.seat_token(0)
        await stream.send(
            attach=[
                table_pb2.Attach(route=0, match_id=MATCH),
                table_pb2.Attach(route=1, match_id=MATCH),
                table_pb2.Attach(route=2, match_id="0-zzzzzzzz"),
                table_pb2.Attach(route=3, match_id="rubbish"),
                table_pb2.Attach(route=4, match_id=MATCH, seat_token="rubbish"),
                *[table_pb2.Attach(route=5, match_id=MATCH, seat_token=mine)] * 2,
            ],
            act=[
                table_pb2.Act(route=1, command_id="spectator", command=flip),
                table_pb2.Act(route=9, command_id="nobody", command=flip),
                table_pb2.Act(route=5, command_id="", command=flip),
                table_pb2.Act(route=5, command_id="empty", command=entry_pb2.Command()),
                table_pb2.Act(route=5, command_id="early", decision_id=match.SEATING, command=flip),
            ],
            pong=[table_pb2.Pong(id=12345)],
            detach=[77],
        )
        while len(stream.answers) < 5:
            await stream.read()
        assert {key: RejectionCode(answer.rejected.code) for key, answer in stream.answers.items()} == {
            "spectator": RejectionCode.NOT_SEATED,
            "nobody": RejectionCode.NOT_SEATED,
            "": RejectionCode.MALFORMED,
            "empty": RejectionCode.MALFORMED,
            "early": RejectionCode.WRONG_PHASE,
        }
        assert RejectionCode(stream.attached[0].rejected.code) is RejectionCode.MALFORMED
        assert RejectionCode(stream.attached[2].rejected.code) is RejectionCode.UNKNOWN_MATCH
        assert RejectionCode(stream.attached[3].rejected.code) is RejectionCode.UNKNOWN_MATCH
        assert RejectionCode(stream.attached[4].rejected.code) is RejectionCode.UNAUTHENTICATED
        assert not stream.attached[1].HasField("seat")
        assert len(edged.table.store.messages) == 2


async def test_a_command_that_crosses_with_the_match_s_move_is_told_so() -> None:
    async with edge() as edged:
        await edged.table.open()
        stream = Stream(edged)
        await stream.send(attach=[table_pb2.Attach(route=1, match_id=MATCH, seat_token=edged.seat_token(0))])
        await stream.read()
        edged.table.host.drop(edged.table.shard_host)
        late = table_pb2.Act(route=1, command_id="late", decision_id=match.SEATING, command=take_seat())
        await stream.send(act=[late])
        while "late" not in stream.answers:
            await stream.read()
        assert RejectionCode(stream.attached[1].rejected.code) is RejectionCode.MOVED
        assert RejectionCode(stream.answers["late"].rejected.code) is RejectionCode.MOVED
