"""Refusals on the wire: every code has a status, and comes back as what it was."""

from __future__ import annotations

import grpc
import pytest

from majlis.chassis.rejections import from_proto, rejected_from, status_of, to_proto
from majlis.engine.decider import Rejected
from majlis.engine.vocabulary.rejection import RejectionCode
from majlis.v1 import rejection_pb2


@pytest.mark.parametrize("code", RejectionCode)
def test_every_code_has_a_status_that_clients_act_on(code: RejectionCode) -> None:
    status = status_of(code)
    assert status not in {grpc.StatusCode.OK, grpc.StatusCode.INTERNAL}
    # Clients and proxies repeat UNAVAILABLE by themselves: only what may be repeated says so.
    may_repeat = code.name in {"UNAVAILABLE", "DRAINING", "MOVED"}
    assert (status is grpc.StatusCode.UNAVAILABLE) is may_repeat


@pytest.mark.parametrize("code", RejectionCode)
def test_a_refusal_comes_back_as_it_was(code: RejectionCode) -> None:
    again = from_proto(
        rejection_pb2.Rejection.FromString(to_proto(Rejected(code, "what", "how")).SerializeToString())
    )
    assert (again.code, again.detail, again.remedy) == (code, "what", "how")


def test_a_newer_servers_code_keeps_its_text() -> None:
    newer = rejection_pb2.Rejection(detail="what", remedy="how")
    newer.MergeFromString(b"\x08\xe7\x07")  # code = 999
    rejected = from_proto(newer)
    assert rejected.code is RejectionCode.UNSPECIFIED
    assert rejected.detail == "what"


def test_what_is_no_refusal_reads_as_none() -> None:
    def failed(code: grpc.StatusCode, trailing: tuple[tuple[str, bytes], ...] = ()) -> grpc.aio.AioRpcError:
        return grpc.aio.AioRpcError(code, grpc.aio.Metadata(), grpc.aio.Metadata(*trailing), "text")

    assert rejected_from(grpc.RpcError()) is None
    assert rejected_from(failed(grpc.StatusCode.UNAVAILABLE)) is None
    assert (
        rejected_from(failed(grpc.StatusCode.INTERNAL, (("grpc-status-details-bin", b"\xff\xff"),))) is None
    )
