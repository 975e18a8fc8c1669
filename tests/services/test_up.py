"""`majlis up` with real processes: everything starts, what dies is started again, and all of it stops."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from majlis.chassis.settings import load
from majlis.chassis.tokens import make_keys
from majlis.cli.supervisor import datadir, ports
from majlis.cli.supervisor.platform import serving
from tests.support.cli import Cli, own_ports, platform

PART = {"services": "computer"}
"""One service and the broker stand for all: they are supervised alike."""


def until(what: Callable[[], bool], timeout_s: float = 60.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not what():
        assert time.monotonic() < deadline, "did not come about"
        time.sleep(0.05)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()


def test_up_starts_what_down_stops(tmp_path: Path) -> None:
    with platform(tmp_path / "data", **PART) as cli:
        running = cli.running()
        (computer,) = running["services"]
        assert asyncio.run(serving(computer["grpc"]))
        with urllib.request.urlopen(computer["metrics"]) as answer:
            assert b"majlis_node_draining 0.0" in answer.read()
        pids = [running["pid"], computer["pid"], running["broker"]["pid"]]
        assert all(alive(pid) for pid in pids)
        logs = {path.name for path in (cli.data_dir / "logs").iterdir()}
        assert {"computer.log", "nats.log", "up.log"} <= logs
    assert not any(alive(pid) for pid in pids)
    assert not (tmp_path / "data/running.json").exists()
    assert cli.json("down")["stopped"] is False


def test_what_is_killed_is_started_again_the_broker_too(tmp_path: Path) -> None:
    with platform(tmp_path / "data", **PART) as cli:
        for name in ("computer", "nats"):
            before = cli.pid(name)
            os.kill(before, signal.SIGKILL)
            until(lambda name=name, before=before: cli.pid(name) != before)  # type: ignore[misc]
        address = cli.running()["services"][0]["grpc"]
        until(lambda: asyncio.run(serving(address)))
        log = [json.loads(line) for line in (cli.data_dir / "logs/up.log").read_text().splitlines()]
        ended = {line["name"]: line["how"] for line in log if line["event"] == "ended"}
        assert ended == {"computer": "signal SIGKILL", "nats": "signal SIGKILL"}
        assert cli.json("doctor")["fail"] == 0


def test_nothing_outlives_a_supervisor_that_is_killed_and_up_works_again(tmp_path: Path) -> None:
    with platform(tmp_path / "data", **PART) as cli:
        pids = [cli.pid("computer"), cli.pid("nats")]
        os.kill(cli.running()["pid"], signal.SIGKILL)
        until(lambda: not any(alive(pid) for pid in pids))
        assert datadir.owner(cli.data_dir) is None
        cli("up", "--detach")
        assert cli.pid("computer") not in pids


def test_one_data_directory_has_one_owner(tmp_path: Path) -> None:
    with platform(tmp_path / "data", **PART) as cli:
        said = Cli(cli.data_dir, {**own_ports(), **PART})("up", code=1).stderr
        assert f"in use by process {cli.running()['pid']}" in said
        assert "majlis down" in said


def test_a_taken_port_is_named_with_its_setting_before_anything_is_started(tmp_path: Path) -> None:
    chosen = own_ports()
    with socket.create_server(("127.0.0.1", chosen["ports__computer"])):
        cli = Cli(tmp_path / "data", {**chosen, **PART})
        said = cli("up", code=1).stderr
        assert f"port {chosen['ports__computer']} (computer gRPC) is taken" in said
        assert "--set ports.computer=PORT" in said
        assert not (tmp_path / "data/nats").exists()
        assert not (tmp_path / "data/keys").exists()
        # doctor finds the same before anybody tries.
        failed = [finding for finding in cli.json("doctor", code=1)["findings"] if finding["level"] == "fail"]
        assert [finding["check"] for finding in failed] == ["ports"]
        assert str(chosen["ports__computer"]) in failed[0]["detail"]


def test_two_parts_on_one_port_are_refused() -> None:
    settings = load({"ports.lobby": 7471, "broker.port": 17460, "broker.monitor_port": 17461}, {})
    faults = ports.taken(ports.uses(settings))
    assert any("meant for" in fault and "lobby gRPC" in fault and "rating gRPC" in fault for fault in faults)


def test_a_damaged_key_is_named_before_anything_is_started(tmp_path: Path) -> None:
    make_keys(tmp_path / "keys")
    (tmp_path / "keys/lobby.key").write_text("no key")
    said = Cli(tmp_path, {**own_ports(), **PART})("up", code=1).stderr
    assert "lobby.key is no PEM file" in said
    assert not (tmp_path / "nats").exists()


def test_a_service_that_cannot_start_ends_up_with_the_end_of_its_log(tmp_path: Path) -> None:
    make_keys(tmp_path / "keys")
    (tmp_path / "keys/lobby.pub").write_text("no key")
    said = Cli(tmp_path, {**own_ports(), "services": "table"})("up", code=1).stderr
    assert "table ended while starting (exit code 1)" in said
    assert "lobby.pub is no PEM file" in said
    assert datadir.owner(tmp_path) is None


def test_ctrl_c_stops_everything_and_ends_with_0(tmp_path: Path) -> None:
    cli = Cli(tmp_path / "data", {**own_ports(), **PART})
    with subprocess.Popen(
        cli.command("up", "--json"),
        env=cli.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the whole group
        assert process.wait(60) == 0
    assert not any(alive(part["pid"]) for part in [told["broker"], *told["services"]])


@pytest.mark.parametrize("level", ["ok", "warn", "fail"])
def test_doctor_counts_its_findings(tmp_path: Path, level: str) -> None:
    told = Cli(tmp_path, own_ports()).json("doctor")
    assert told[level] == sum(finding["level"] == level for finding in told["findings"])
    assert {"python", "packages", "nats-server", "data directory", "fsync", "ports"} <= {
        finding["check"] for finding in told["findings"]
    }


def test_doctor_fails_where_secrets_are_open_to_others(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.mkdir()
    (keys / "lobby.key").write_text("secret")
    (keys / "lobby.key").chmod(0o644)
    failed = [
        finding
        for finding in Cli(tmp_path, own_ports()).json("doctor", code=1)["findings"]
        if finding["level"] == "fail"
    ]
    assert [finding["check"] for finding in failed] == ["keys"]
