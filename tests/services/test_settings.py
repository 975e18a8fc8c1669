"""Settings: four sources in order, each value with its source, and faults that name the setting."""

from __future__ import annotations

from pathlib import Path

import pytest

from majlis.chassis.settings import (
    BadSettings,
    Settings,
    as_environment,
    as_user,
    described,
    explain,
    explain_load,
    flatten,
    load,
    parse_flags,
    password_file,
    unknown_variables,
)


def toml(tmp_path: Path, text: str) -> dict[str, str]:
    (tmp_path / "majlis.toml").write_text(text)
    return {"data_dir": str(tmp_path)}


def test_defaults_are_the_documented_ports() -> None:
    settings = load({}, {})
    assert settings.broker.urls == ["nats://127.0.0.1:7460"]
    assert [settings.port_of(name) for name in ("lobby", "rating", "archive", "computer", "table")] == [
        7470, 7471, 7472, 7473, 7480,
    ]  # fmt: skip
    assert settings.port_of("table", 2) == 7482
    assert settings.metrics_port_of("table", 1) == 7501
    assert settings.sql_url("lobby") == "sqlite+aiosqlite:///majlis-data/lobby.db"


def test_file_beats_default_environment_beats_file_flag_beats_environment(tmp_path: Path) -> None:
    flags = toml(tmp_path, "shards = 2\ndrain_s = 3.0\n[ports]\nlobby = 8001\nrating = 8002\n")
    environ = {"MAJLIS_SHARDS": "3", "MAJLIS_PORTS__LOBBY": "9001"}
    settings, sources = explain_load({**flags, "ports.lobby": "9999"}, environ)
    assert (settings.drain_s, settings.ports.rating) == (3.0, 8002)
    assert settings.shards == 3
    assert settings.ports.lobby == 9999
    assert sources["drain_s"].endswith("majlis.toml")
    assert sources["shards"] == "environment"
    assert sources["ports.lobby"] == "flag"
    assert "ports.table" not in sources


def test_a_config_file_may_be_named_and_must_then_exist(tmp_path: Path) -> None:
    path = tmp_path / "other.toml"
    path.write_text("shards = 5\n")
    assert load({"config": str(path)}, {}).shards == 5
    assert load({}, {"MAJLIS_CONFIG": str(path)}).shards == 5
    with pytest.raises(BadSettings, match="no such file"):
        load({"config": str(tmp_path / "missing.toml")}, {})


@pytest.mark.parametrize(
    ("flags", "environ", "text", "said"),
    [
        ({"broker.prt": "1"}, {}, "", r"broker.prt: no such setting \(from flag\)"),
        ({}, {"MAJLIS_BROKER__PRT": "1"}, "", r"broker.prt: no such setting \(from environment\)"),
        ({}, {}, "nonsense = 1", r"nonsense: no such setting \(from file .*majlis.toml\)"),
        ({"broker.port": "many"}, {}, "", r"broker.port: .*integer.* \(from flag\)"),
        ({"shards": "0"}, {}, "", r"shards: .*greater than or equal to 1"),
        ({"ports.lobby": "70000"}, {}, "", r"ports.lobby: .*65535"),
        ({"services": "table,tables"}, {}, "", r"services"),
        ({"broker.urls": "["}, {}, "", r"broker.urls"),
        ({"broker": "x"}, {}, "", r"broker: "),
        ({}, {}, "shards = [", r"majlis.toml: "),
    ],
)
def test_a_fault_names_the_setting_and_its_source(
    tmp_path: Path, flags: dict[str, str], environ: dict[str, str], text: str, said: str
) -> None:
    with pytest.raises(BadSettings, match=said):
        load({**toml(tmp_path, text), **flags}, environ)


def test_misspelt_variables_are_found() -> None:
    environ = {
        "MAJLIS_SHARD": "1",
        "MAJLIS_SHARDS": "1",
        "MAJLIS_BROKER__PORT": "1",
        "PATH": "/",
        "MAJLIS_CONFIG": "",
    }
    assert unknown_variables(environ) == ["MAJLIS_SHARD"]


def test_addresses_of_the_broker_follow_its_port_until_they_are_given() -> None:
    assert load({"broker.port": "8000"}, {}).broker.urls == ["nats://127.0.0.1:8000"]
    given = load({}, {"MAJLIS_BROKER__URLS": "nats://a:1, nats://b:2"}).broker
    assert given.urls == ["nats://a:1", "nats://b:2"]
    assert not given.embedded


def test_the_embedded_brokers_password_is_found_where_up_wrote_it(tmp_path: Path) -> None:
    path = password_file(tmp_path / "keys", "operator")
    path.parent.mkdir(parents=True)
    path.write_text("secret\n")
    settings, sources = explain_load({"data_dir": str(tmp_path), "broker.port": "8000"}, {})
    assert settings.broker.urls == ["nats://operator:secret@127.0.0.1:8000"]
    assert settings.broker.embedded
    assert sources["broker.urls"] == f"default, password: {path}"
    elsewhere = load({"data_dir": str(tmp_path), "broker.urls": "nats://a:1"}, {})
    assert elsewhere.broker.urls == ["nats://operator:secret@a:1"]
    assert not elsewhere.broker.embedded
    assert not load({"data_dir": str(tmp_path), "broker.embedded": "false"}, {}).broker.embedded


def test_each_service_gets_its_own_password_and_never_the_operators(tmp_path: Path) -> None:
    for user in ("operator", "table"):
        path = password_file(tmp_path / "keys", user)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{user}-secret")
    for urls in ({}, {"broker.urls": "nats://a:1"}):
        settings = load({"data_dir": str(tmp_path), **urls}, {})
        assert settings.broker.urls[0].startswith("nats://operator:operator-secret@")
        assert as_user(settings, "table").broker.urls[0].startswith("nats://table:table-secret@")
        assert as_user(settings, "rating").broker.urls[0] in {"nats://a:1", "nats://127.0.0.1:7460"}
        again = load({}, as_environment(as_user(settings, "table")), user="table")
        assert again.broker.urls == as_user(settings, "table").broker.urls
    assert load({"data_dir": str(tmp_path)}, {}, user="table").broker.urls == [
        "nats://table:table-secret@127.0.0.1:7460"
    ]
    given = load({"data_dir": str(tmp_path), "broker.urls": "nats://me:mine@a:1"}, {})
    assert as_user(given, "table").broker.urls == ["nats://me:mine@a:1"]


def test_another_process_gets_the_same_settings_through_its_environment() -> None:
    settings = load(
        {"broker.urls": "nats://a:1,nats://b:2", "sql.lobby": "postgresql+asyncpg://x", "tables": None}, {}
    )
    assert load({}, as_environment(settings)) == settings


def test_every_setting_is_described_and_told_with_its_source(tmp_path: Path) -> None:
    names = [name for name, _ in flatten(Settings().model_dump())]
    assert all(described(name).strip() for name in names)
    told = explain({"data_dir": str(tmp_path), "shards": "4"})
    assert [name for name, *_ in told] == names
    assert ("shards", "4", "flag", described("shards")) in told


def test_no_password_is_ever_shown(tmp_path: Path) -> None:
    told = explain(
        {
            "data_dir": str(tmp_path),
            "broker.urls": "nats://me:hidden1@a:1,nats://b:2",
            "sql.rating": "postgresql+asyncpg://me:hidden2@host/db",
        }
    )
    shown = " ".join(value for _, value, *_ in told)
    assert "hidden" not in shown
    assert "nats://me:********@a:1, nats://b:2" in shown


def test_flags_of_a_service() -> None:
    assert parse_flags(["--data-dir", "x", "--ports.lobby=1", "--sql.lobby=a=b"]) == {
        "data_dir": "x", "ports.lobby": "1", "sql.lobby": "a=b",
    }  # fmt: skip
    for bad in (["data"], ["--shards"], ["--shards", "1", "--"]):
        with pytest.raises(BadSettings):
            parse_flags(bad)
