"""Compiles the vocabulary: `make proto` (or `--check`: says which generated files are out of date and exits 1).

Writes *_pb2.py, *_pb2.pyi and *_pb2_grpc.py beside the protos, and engine/majlis/engine/vocabulary.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from google.protobuf import descriptor_pb2, descriptor_pool

from converters import wire_module
from vocabulary import struct_module

ROOT = Path(__file__).resolve().parent.parent
PROTO = ROOT / "proto"
VOCABULARY = ROOT / "engine/majlis/engine/vocabulary"
# The files whose messages the engine handles, in the order of their imports.
ENGINE_FILES = [
    "rejection",
    "match",
    "numbers",
    "sounding",
    "thousand",
    "entry",
    "view",
    "result",
    "computer",
    "tournament",
]


def compile_protos(out: Path) -> list[Path]:
    """Runs protoc; returns the files it wrote below `out`."""
    protos = sorted(str(path.relative_to(PROTO)) for path in (PROTO / "majlis").rglob("*.proto"))
    bin_dir = Path(sys.executable).parent
    command = [
        sys.executable, "-m", "grpc_tools.protoc", f"-I{PROTO}",
        f"--plugin=protoc-gen-mypy={bin_dir / 'protoc-gen-mypy'}",
        f"--plugin=protoc-gen-mypy_grpc={bin_dir / 'protoc-gen-mypy_grpc'}",
        f"--python_out={out}", f"--grpc_python_out={out}",
        f"--mypy_out=quiet:{out}", f"--mypy_grpc_out=quiet:{out}",
        f"--descriptor_set_out={out / 'all.binpb'}", "--include_imports", *protos,
    ]  # fmt: skip
    subprocess.run(command, check=True)
    for grpc_file in out.rglob("*_pb2_grpc.py*"):
        if not _has_service(PROTO / grpc_file.relative_to(out)):
            grpc_file.unlink()
    return sorted(path for path in out.rglob("*") if path.suffix in {".py", ".pyi"})


def _has_service(grpc_file: Path) -> bool:
    proto = grpc_file.with_name(grpc_file.name.split("_pb2_grpc")[0] + ".proto")
    return "\nservice " in proto.read_text()


def write_vocabulary(descriptors: Path, out: Path) -> list[Path]:
    """Writes the engine's structs and converters below `out`."""
    pool = descriptor_pool.DescriptorPool()
    file_set = descriptor_pb2.FileDescriptorSet.FromString(descriptors.read_bytes())
    for compiled in file_set.file:
        pool.Add(compiled)
    files = [pool.FindFileByName(f"majlis/v1/{name}.proto") for name in ENGINE_FILES]
    written = []
    for file in files:
        path = out / f"{file.name.rsplit('/', 1)[-1].removesuffix('.proto')}.py"
        path.write_text(struct_module(file))
        written.append(path)
    (out / "wire.py").write_text(wire_module(files))
    written.append(out / "wire.py")
    ruff = Path(sys.executable).parent / "ruff"
    options = ["--config", str(ROOT / "pyproject.toml"), "--no-cache", *map(str, written)]
    subprocess.run([ruff, "check", "--quiet", "--fix-only", "--select", "I,F401,UP", *options], check=True)
    subprocess.run([ruff, "format", "--quiet", *options], check=True)
    return written


def generate(out: Path) -> dict[Path, str]:
    """Everything that is generated: place in the repository -> text."""
    result = {}
    for path in compile_protos(out):
        result[PROTO / path.relative_to(out)] = path.read_text()
    vocabulary = out / "vocabulary"
    vocabulary.mkdir()
    for path in write_vocabulary(out / "all.binpb", vocabulary):
        result[VOCABULARY / path.name] = path.read_text()
    return result


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        wanted = generate(Path(folder))
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text() != text]
    present = {*PROTO.rglob("*_pb2*.py"), *PROTO.rglob("*_pb2*.pyi")}
    dead = sorted(present - set(wanted))
    if "--check" in sys.argv:
        for path in [*stale, *dead]:
            print(f"out of date: {path.relative_to(ROOT)} (run `make proto`)")
        return 1 if stale or dead else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(wanted[path])
    for path in dead:
        path.unlink()
    print(f"{len(wanted)} files generated, {len(stale)} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
