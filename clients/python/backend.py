"""Builds the wheels. A wheel is a zip archive of modules, scripts and a few words about them, which needs no tool.

As pip's backend, for `pip install ./clients/python`, it makes one with a program that it builds, if Go is here. As the command
`clients/python/pack DIR [DIST VERSION]` it makes, in the directory DIR, one for each program of DIST, where packaging/release
has built them, and one without a program for other systems. A commit always gives the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any, Dict, Optional

NAME = "may-fly"

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent

# By the system and processor of a program, where it runs: without libc, on Linux with any.
PLATFORMS = {
    "linux_amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux_arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin_amd64": "macosx_12_0_x86_64",
    "darwin_arm64": "macosx_12_0_arm64",
    "windows_amd64": "win_amd64",
    "windows_arm64": "win_arm64",
}

METADATA = """\
Metadata-Version: 2.1
Name: {name}
Version: {version}
Summary: A mail service for tests: inboxes, codes and links, with fixtures for pytest
Home-page: https://example.com/mayfly/mayfly
License: MIT
Requires-Python: >=3.9
Classifier: Framework :: Pytest
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Communications :: Email
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

{readme}"""

ENTRY_POINTS = """\
[pytest11]
mayfly = mayfly.pytest_plugin
"""


def wheel(directory: Path, version: str, platform: str, program: Optional[Path]) -> str:
    """Write a wheel and return its name."""
    stem = f"{NAME.replace('-', '_')}-{version}"
    tags = "".join(f"Tag: py3-none-{tag}\n" for tag in platform.split("."))
    pure = "false" if program else "true"
    files: Dict[str, bytes] = {f"mayfly/{path.name}": path.read_bytes() for path in (HERE / "src/mayfly").glob("*.py*") if path.is_file()}
    if program:
        files[f"{stem}.data/scripts/{program.name}"] = program.read_bytes()
    info = {
        "LICENSE": (ROOT / "LICENSE").read_text(encoding="utf-8"),
        "METADATA": METADATA.format(name=NAME, version=version, readme=(HERE / "README.md").read_text(encoding="utf-8")),
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: mayfly\nRoot-Is-Purelib: {pure}\n{tags}",
        "entry_points.txt": ENTRY_POINTS,
    }
    files = dict(sorted({**files, **{f"{stem}.dist-info/{name}": text.encode() for name, text in info.items()}}.items()))
    record = f"{stem}.dist-info/RECORD"
    files[record] = "".join(f"{name},sha256={_hash(data)},{len(data)}\n" for name, data in files.items()).encode() + f"{record},,\n".encode()

    name = f"{stem}-py3-none-{platform}.whl"
    with zipfile.ZipFile(directory / name, "w") as archive:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.create_system = 3  # Unix, which has modes
            entry.external_attr = (0o100755 if ".data/scripts/" in path else 0o100644) << 16
            archive.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return name


def _hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    """Build a wheel for this machine, with a program where Go is."""
    system = _output("go", "env", "GOOS", "GOARCH").replace("\n", "_")
    if system not in PLATFORMS:
        return wheel(Path(wheel_directory), _snapshot(), "any", None)
    with tempfile.TemporaryDirectory() as built:
        build = ["go", "build", "-trimpath", "-ldflags=-s -w", "-o", built + "/", "."]
        subprocess.run(build, cwd=ROOT, env={**os.environ, "CGO_ENABLED": "0"}, check=True)
        [program] = Path(built).iterdir()
        return wheel(Path(wheel_directory), _snapshot(), PLATFORMS[system], program)


def _snapshot() -> str:
    """Return a version before all releases, later for a later commit."""
    return "0.0.0rc" + (_output("git", "log", "-1", "--format=%ct") or "0")


def _output(*command: str) -> str:
    """Return what a command prints, nothing if it cannot be run."""
    if not shutil.which(command[0]):
        return ""
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True).stdout.strip()


def pack(directory: str, dist: Optional[str] = None, version: str = "") -> None:
    Path(directory).mkdir(parents=True, exist_ok=True)
    if dist is None:
        build_wheel(directory)
        wheel(Path(directory), _snapshot(), "any", None)
        return
    version = version.replace("-pre", "rc")  # as Python has it
    wheel(Path(directory), version, "any", None)
    for built in sorted(Path(dist).glob("mayfly_*/mayfly*")):
        system = re.match("mayfly_([a-z]+_[a-z0-9]+)", built.parent.name)
        if system and built.name in ("mayfly", "mayfly.exe"):
            wheel(Path(directory), version, PLATFORMS[system[1]], built)


if __name__ == "__main__":
    pack(*sys.argv[1:])
