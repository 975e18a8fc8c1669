"""The files of `deploy/` against the code: they name what exists, and the broker accepts them."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from majlis.chassis import embedded, metrics
from majlis.chassis.settings import load

DEPLOY = Path(__file__).parents[2] / "deploy"
FOREIGN = {"up", "process_cpu_seconds_total", "process_resident_memory_bytes"}
"""Series of a dashboard that Prometheus and its client library make."""


def dashboards() -> list[Path]:
    return sorted(DEPLOY.glob("grafana/*.json"))


def expressions(dashboard: Path) -> list[str]:
    panels: list[dict[str, Any]] = json.loads(dashboard.read_text())["panels"]
    return [target["expr"] for panel in panels for target in panel.get("targets", [])]


def series(expression: str) -> set[str]:
    """Names in an expression that are followed by a selector, a range or its end, and no function or label."""
    without_labels = re.sub(r"by \([^)]*\)|\{[^}]*\}", "", expression)
    return set(re.findall(r"\b[a-z][a-z0-9_]+\b(?!\s*\()", without_labels)) - {"by", "m", "s"}


@pytest.mark.parametrize("dashboard", dashboards(), ids=lambda path: path.name)
def test_every_series_of_a_dashboard_exists(dashboard: Path) -> None:
    known = metrics.names() | FOREIGN
    used = set().union(*(series(expression) for expression in expressions(dashboard)))
    assert len(used) > 20
    assert sorted(used - known) == []


def test_every_metric_is_on_a_dashboard() -> None:
    shown = " ".join(expression for dashboard in dashboards() for expression in expressions(dashboard))
    ours = {
        name
        for name in metrics.names()
        if name.startswith("majlis_") and not name.endswith(("_sum", "_count"))
    }
    assert sorted(name for name in ours if name not in shown) == []


def test_labels_in_a_dashboard_are_those_of_the_metrics() -> None:
    known = {"le", "service", "instance", "job"}
    for family in metrics.REGISTRY._names_to_collectors.values():
        known |= set(getattr(family, "_labelnames", ()))
    for dashboard in dashboards():
        for expression in expressions(dashboard):
            labels = re.findall(r"by \(([^)]*)\)", expression)
            assert {label.strip() for names in labels for label in names.split(",")} <= known, expression


def test_no_label_can_grow_without_limit() -> None:
    forbidden = {"match", "match_id", "player", "player_id", "tournament", "tournament_id", "address", "peer"}
    for family in metrics.REGISTRY._names_to_collectors.values():
        assert not forbidden & set(getattr(family, "_labelnames", ())), family


def test_prometheus_scrapes_every_service_at_its_default_port() -> None:
    jobs = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())["scrape_configs"]
    (ours,) = [job for job in jobs if job["job_name"] == "majlis"]
    scraped = {
        (group["labels"]["service"], target)
        for group in ours["static_configs"]
        for target in group["targets"]
    }
    settings = load({}, {})
    assert scraped == {
        (service, f"{settings.host}:{settings.metrics_port_of(service)}") for service in settings.services
    }


@pytest.mark.parametrize("name", ["one-node.conf", "three-nodes.conf"])
def test_the_broker_accepts_its_configuration(name: str, tmp_path: Path) -> None:
    passwords = embedded.make_passwords(tmp_path / "keys")
    environment = embedded.environment(
        name="majlis-1", host="127.0.0.1", port=7460, monitor_port=7461, store=tmp_path / "a store", passwords=passwords
    ) | {
        "MAJLIS_NATS_CLUSTER_LISTEN": '"127.0.0.1:6222"',
        "MAJLIS_NATS_ROUTES": '["nats://127.0.0.1:6222"]',
    }  # fmt: skip
    checked = subprocess.run(
        [embedded.binary(), "-t", "-c", DEPLOY / "nats" / name],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr
    assert "is valid" in checked.stderr


def test_what_is_deployed_is_what_up_runs() -> None:
    assert (DEPLOY / "nats").resolve() == embedded.CONFIG_DIR.resolve()
    for name in ("one-node.conf", "three-nodes.conf"):
        assert re.search(
            r"^\s*sync_interval: always$", (embedded.CONFIG_DIR / name).read_text(), re.MULTILINE
        )


def test_every_file_is_in_the_readme() -> None:
    readme = (DEPLOY / "README.md").read_text()
    files = [
        path.relative_to(DEPLOY)
        for folder in DEPLOY.iterdir()
        if folder.is_dir()
        for path in folder.iterdir()
    ]
    assert [str(path) for path in files if str(path) not in readme] == []
