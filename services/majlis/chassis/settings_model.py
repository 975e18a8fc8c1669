"""Every setting of every process, with its default and what it is for. `settings.py` reads them.

A setting is named by its section and name: `broker.port`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict
from pydantic_settings.sources import PydanticBaseSettingsSource

SERVICES: Final = ("table", "lobby", "rating", "computer", "archive")
PREFIX: Final = "MAJLIS_"
EMBEDDED_PORT: Final = 7460


class BadSettings(Exception):
    """Settings that cannot be used: one line per fault, each with the setting's name and where it was set."""


def _list(value: Any) -> Any:
    """A list given as text: JSON, or values separated by commas."""
    if not isinstance(value, str):
        return value
    return (
        json.loads(value)
        if value.startswith("[")
        else [part.strip() for part in value.split(",") if part.strip()]
    )


Port = Annotated[int, Field(ge=1, le=65535)]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class BrokerSettings(Section):
    """The NATS server."""

    urls: Annotated[list[str], NoDecode, BeforeValidator(_list)] = Field(
        default=[f"nats://127.0.0.1:{EMBEDDED_PORT}"],
        min_length=1,
        description="Addresses of the NATS servers, user and password included (nats://user:password@host:port). "
        "Follows `broker.port` while the server is embedded.",
    )
    embedded: bool = Field(
        default=True,
        description="Whether `majlis up` starts a nats-server of its own. Off as soon as `broker.urls` is set.",
    )
    port: Port = Field(default=EMBEDDED_PORT, description="Client port of the embedded server.")
    monitor_port: Port = Field(default=7461, description="HTTP monitoring port of the embedded server.")
    replicas: int = Field(
        default=1, ge=1, le=5, description="Copies of each stream: 1 embedded, 3 in production."
    )


class PortSettings(Section):
    """gRPC ports. Instance N of a service listens on its port + N."""

    lobby: Port = Field(default=7470, description="gRPC port of the lobby.")
    rating: Port = Field(default=7471, description="gRPC port of the rating service.")
    archive: Port = Field(default=7472, description="gRPC port of the archive.")
    computer: Port = Field(default=7473, description="gRPC port (health only) of the first computer worker.")
    table: Port = Field(default=7480, description="gRPC port of the first table instance.")


class MetricsSettings(Section):
    """HTTP ports of `/metrics`. Instance N of a service listens on its port + N."""

    lobby: Port = Field(default=7490, description="Metrics port of the lobby.")
    rating: Port = Field(default=7491, description="Metrics port of the rating service.")
    archive: Port = Field(default=7492, description="Metrics port of the archive.")
    computer: Port = Field(default=7493, description="Metrics port of the first computer worker.")
    table: Port = Field(default=7500, description="Metrics port of the first table instance.")


class SqlSettings(Section):
    """SQLAlchemy addresses of the read models; unset: an SQLite file in the data directory."""

    lobby: str | None = Field(default=None, description="Database of accounts and the lobby's read model.")
    rating: str | None = Field(default=None, description="Database of the ladders.")
    archive: str | None = Field(default=None, description="Database of the record index.")


class InstanceSettings(Section):
    """How many processes of a service `majlis up` runs."""

    table: int = Field(default=1, ge=1, le=10, description="Table instances.")
    computer: int = Field(default=1, ge=1, le=7, description="Computer workers.")


class Settings(BaseSettings):
    """Every setting of every process; each service reads what concerns it."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True, validate_default=True
    )

    data_dir: Path = Field(default=Path("majlis-data"), description="Where everything that is kept is kept.")
    host: str = Field(default="127.0.0.1", description="Address that gRPC and metrics listen on.")
    advertise: str = Field(
        default="", description="Host name that others reach this machine by; empty: `host`."
    )
    instance: int = Field(default=0, ge=0, description="Number of this process among those of its service.")
    services: Annotated[
        list[Literal["table", "lobby", "rating", "computer", "archive"]], NoDecode, BeforeValidator(_list)
    ] = Field(
        default=list(SERVICES), min_length=1, description="Services that `majlis up` runs on this machine."
    )
    shards: int = Field(default=8, ge=1, le=64, description="Shards that new matches are spread over.")
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="Lowest level logged."
    )
    drain_s: float = Field(
        default=10.0, gt=0, description="Longest time a service takes to stop, in seconds."
    )
    broker: BrokerSettings = BrokerSettings()
    ports: PortSettings = PortSettings()
    metrics: MetricsSettings = MetricsSettings()
    sql: SqlSettings = SqlSettings()
    instances: InstanceSettings = InstanceSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what `load` has merged: it must know the source of each value."""
        return (init_settings,)

    @model_validator(mode="before")
    @classmethod
    def _broker_addresses(cls, values: Any) -> Any:
        given = values.get("broker") or {}
        if not isinstance(given, dict):
            return values
        broker = dict(given)
        if "urls" in broker:
            broker.setdefault("embedded", False)
        else:
            broker["urls"] = [f"nats://127.0.0.1:{broker.get('port', EMBEDDED_PORT)}"]
        return {**values, "broker": broker}

    @property
    def keys_dir(self) -> Path:
        return self.data_dir / "keys"

    @property
    def logs_dir(self) -> Path:
        return self.data_dir / "logs"

    def port_of(self, service: str, instance: int = 0) -> int:
        """The gRPC port of an instance of a service."""
        return int(getattr(self.ports, service)) + instance

    def metrics_port_of(self, service: str, instance: int = 0) -> int:
        return int(getattr(self.metrics, service)) + instance

    def address_of(self, service: str, instance: int = 0) -> str:
        """`host:port` under which others reach an instance of a service."""
        return f"{self.advertise or self.host}:{self.port_of(service, instance)}"

    def sql_url(self, service: str) -> str:
        """The SQLAlchemy address of a service's database."""
        given: str | None = getattr(self.sql, service)
        return given or f"sqlite+aiosqlite:///{self.data_dir / service}.db"
