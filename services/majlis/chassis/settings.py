"""Typed settings and where they come from, the later winning: defaults, a TOML file, environment, flags.

The file is `majlis.toml` in the data directory, or the one named by `--config` or `MAJLIS_CONFIG`. Environment
variables are `MAJLIS_` and the setting's name in capitals, sections joined by two underscores
(`MAJLIS_BROKER__PORT=7460`). Flags of a service are `--broker.port 7460`.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_settings import EnvSettingsSource

from majlis.chassis.settings_model import PREFIX, SERVICES, BadSettings, Settings

__all__ = [
    "PREFIX",
    "SERVICES",
    "BadSettings",
    "Settings",
    "as_environment",
    "as_user",
    "broker_url",
    "described",
    "explain",
    "flatten",
    "load",
    "parse_flags",
    "password_file",
    "unknown_variables",
]

FILE_NAME: Final = "majlis.toml"
OPERATOR: Final = "operator"
"""The broker's user of the command line."""


def load(
    overrides: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None, user: str = OPERATOR
) -> Settings:
    """The settings of this process; `overrides` are flags by dotted name (`{"broker.port": 7460}`).

    `user`: as whom it connects to the broker, where `<data>/keys/broker` has a password for it. Raises BadSettings.
    """
    return explain_load(overrides, environ, user)[0]


def explain_load(
    overrides: Mapping[str, Any] | None = None, environ: Mapping[str, str] | None = None, user: str = OPERATOR
) -> tuple[Settings, dict[str, str]]:
    """The settings, and for each dotted name that was set the source it was taken from."""
    environ = os.environ if environ is None else environ
    flags = {name: value for name, value in (overrides or {}).items() if value is not None}
    config = flags.pop("config", None) or environ.get(f"{PREFIX}CONFIG")
    env = dict(flatten(_environment(environ)))
    data_dir = flags.get("data_dir") or env.get("data_dir") or Settings.model_fields["data_dir"].default
    path = Path(config) if config else Path(data_dir) / FILE_NAME
    layers = {f"file {path}": _file(path, must_exist=bool(config)), "environment": env, "flag": flags}
    merged: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for source, values in layers.items():
        merged |= values
        sources |= dict.fromkeys(values, source)
    try:
        settings = Settings(**_nest(merged))
    except (ValidationError, ValueError) as error:
        raise BadSettings("\n".join(_faults(error, sources))) from None
    if (known := as_user(settings, user)) != settings:
        sources["broker.urls"] = (
            f"{sources.get('broker.urls', 'default')}, password: {password_file(settings.keys_dir, user)}"
        )
    return known, sources


def password_file(keys_dir: Path, user: str) -> Path:
    """Where the password of a user of the broker stands."""
    return keys_dir / "broker" / user


def broker_url(user: str, password: str, port: int | str) -> str:
    """The address of the embedded broker for a user."""
    return f"nats://{user}:{password}@127.0.0.1:{port}"


def as_user(settings: Settings, user: str) -> Settings:
    """The same settings for another user of the broker: with that user's password instead of the operator's, where
    `<data>/keys/broker` has one. Addresses that were given with a user keep it."""
    urls = settings.broker.urls
    if known := _password(settings.keys_dir, OPERATOR):
        urls = [url.replace(f"://{OPERATOR}:{known}@", "://") for url in urls]
    if password := _password(settings.keys_dir, user):
        urls = [url if "@" in url else url.replace("://", f"://{user}:{password}@", 1) for url in urls]
    return settings.model_copy(update={"broker": settings.broker.model_copy(update={"urls": urls})})


def _password(keys_dir: Path, user: str) -> str:
    try:
        return password_file(keys_dir, user).read_text(encoding="ascii").strip()
    except OSError:
        return ""


def explain(overrides: Mapping[str, Any] | None = None) -> list[tuple[str, str, str, str]]:
    """Name, value, source and description of every setting, for `majlis config show`. Secrets are masked."""
    settings, sources = explain_load(overrides)
    told = []
    for name, value in flatten(settings.model_dump()):
        source = sources.get(name, "default")
        shown = settings.sql_url(name.removeprefix("sql.")) if name.startswith("sql.") else value
        told.append((name, _shown(shown), source, described(name)))
    return told


def parse_flags(arguments: Sequence[str]) -> dict[str, str]:
    """`--broker.port 7460 --data-dir=x` as overrides; raises BadSettings."""
    flags: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        name, _, value = rest.pop(0).partition("=")
        if not name.startswith("--"):
            raise BadSettings(f"{name}: flags are --NAME VALUE")
        if not value and not rest:
            raise BadSettings(f"{name}: a value is missing")
        flags[name[2:].replace("-", "_")] = value or rest.pop(0)
    return flags


def as_environment(settings: Settings) -> dict[str, str]:
    """The environment variables that give another process these settings, whatever its files say."""
    variables = {}
    for name, value in flatten(settings.model_dump()):
        if value is not None:
            key = PREFIX + name.upper().replace(".", "__")
            variables[key] = json.dumps(value) if isinstance(value, list) else str(value)
    return variables


def described(name: str) -> str:
    """The description of a setting by its dotted name."""
    model: type[BaseModel] = Settings
    *sections, last = name.split(".")
    for section in sections:
        annotation = model.model_fields[section].annotation
        assert isinstance(annotation, type)
        model = annotation
    return model.model_fields[last].description or ""


def flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Nested sections as dotted names."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from flatten(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _nest(flat: Mapping[str, Any]) -> dict[str, Any]:
    nested: dict[str, Any] = {}
    for name, value in flat.items():
        *sections, last = name.split(".")
        inner = nested
        for section in sections:
            inner = inner.setdefault(section, {})
            if not isinstance(inner, dict):
                raise BadSettings(f"{name}: {section} is not a section")
        inner[last] = value
    return nested


def _environment(environ: Mapping[str, str]) -> dict[str, Any]:
    known = set(Settings.model_fields)
    ours = {name: value for name, value in environ.items() if name.startswith(PREFIX)}
    source = EnvSettingsSource(Settings)
    source.env_vars = {name.lower(): value for name, value in ours.items() if _section(name) in known}
    return source()


def _section(variable: str) -> str:
    return variable.removeprefix(PREFIX).split("__")[0].lower()


def unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """Environment variables that look like settings and are none: spelling mistakes."""
    known = {*Settings.model_fields, "config"}
    return sorted(name for name in environ if name.startswith(PREFIX) and _section(name) not in known)


def _file(path: Path, *, must_exist: bool) -> dict[str, Any]:
    try:
        return dict(flatten(tomllib.loads(path.read_text(encoding="utf-8"))))
    except FileNotFoundError:
        if must_exist:
            raise BadSettings(f"{path}: no such file") from None
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadSettings(f"{path}: {error}") from None


def _faults(error: Exception, sources: Mapping[str, str]) -> Iterator[str]:
    if not isinstance(error, ValidationError):
        yield str(error)
        return
    for fault in error.errors():
        name = ".".join(str(part) for part in fault["loc"] if not isinstance(part, int))
        unknown = fault["type"] == "extra_forbidden"
        what = "no such setting" if unknown else re.sub(r"^Value error, ", "", fault["msg"])
        yield f"{name}: {what} (from {sources.get(name, 'default')})"


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(_shown(each) for each in value)
    return re.sub(r"(://[^:/@]*):[^@/]*@", r"\1:********@", str(value))
