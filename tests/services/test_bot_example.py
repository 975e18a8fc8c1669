"""The README's bot plays a whole match against a platform that anybody can start."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.support.cli import ROOT, platform


def example() -> str:
    """The Python of the README."""
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    return str(code)


def test_the_readme_s_bot_has_at_most_25_lines_and_plays_a_whole_match(tmp_path: Path) -> None:
    code = example()
    assert len(code.splitlines()) <= 25
    with platform(tmp_path / "data") as cli:
        lobby = next(part["grpc"] for part in cli.running()["services"] if part["name"] == "lobby")
        mine = code.replace("127.0.0.1:7470", lobby)
        assert mine != code
        ran = subprocess.run(
            [sys.executable, "-c", mine], capture_output=True, text=True, timeout=120, check=False
        )
        assert ran.returncode == 0, ran.stderr
        found = re.fullmatch(r"places by seat: \[(\d), (\d), (\d), (\d)\]\n", ran.stdout)
        assert found is not None, ran.stdout
        assert "1" in found.groups()
