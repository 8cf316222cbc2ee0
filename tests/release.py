"""`make release`: builds sdist and wheel twice, checks them, and tries the wheel on each Python.

`python -m tests.release FOLDER` writes sdist and wheel into the folder. It fails if two builds
differ, if twine finds a mistake, or if an installed wheel does not run a new folder's program.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tests.mutants.copies import copy_tree

ROOT = Path(__file__).parents[1]
SOURCES = ("isa", "asm", "emu", "debugger", "src", "pyproject.toml", "setup.py", "README.md",
           "LICENSE", "CHANGELOG.md", "CITATION.cff", "SECURITY.md")  # fmt: skip
PYTHONS = ("python3.11", "python3.12", "python3.13")
PACKAGE = "macaw"
TRIAL = """\
import os, sys
import macaw
from macaw.cli import run_command
status = [run_command(["new", "first"])]
os.chdir("first")
status += [run_command(["run", "."]), run_command(["test", "."])]
sys.exit(any(status))
"""


def commit_time() -> str:
    """The time of the last commit in seconds, which all files of a release get as their date."""
    done = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def repack(path: Path, seconds: int) -> None:
    """Write a .tar.gz again: its files in order, with the same date, without an owner.

    setuptools gives a sdist's files the dates on disk, which differ in each checkout.
    """
    out = io.BytesIO()
    with (
        tarfile.open(path) as old,
        tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as new,
    ):
        for member in sorted(old.getmembers(), key=lambda each: each.name):
            data = old.extractfile(member) if member.isfile() else None
            member.mtime, member.uid, member.gid, member.uname, member.gname = seconds, 0, 0, "", ""
            member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            member.pax_headers = {}
            new.addfile(member, data)
    with path.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=seconds) as packed:
        packed.write(out.getvalue())


def build(tree: Path, folder: Path, seconds: str) -> dict[str, str]:
    """Build sdist and wheel of a tree into a folder; return the SHA-256 of each, by name."""
    done = subprocess.run(
        [sys.executable, "-m", "build", "--outdir", str(folder), str(tree)],
        env={**os.environ, "SOURCE_DATE_EPOCH": seconds},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    for path in folder.glob("*.tar.gz"):
        repack(path, int(seconds))
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
    }


def try_wheel(python: str, version: str, wheel: Path) -> str:
    """Install a wheel in a new environment and run its sample; return the version of Python.

    Raises `RuntimeError` if more than one package is installed, or a command fails.
    """
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        subprocess.run([*_command(python, version), "-m", "venv", str(place / "env")], check=True)
        own = str(place / "env" / "bin" / "python")
        install = [own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        before = packages(own)
        subprocess.run([*install, "--no-deps", str(wheel)], check=True)
        added = {each for each in packages(own) - before if not each.endswith(".dist-info")}
        if added != {PACKAGE}:
            raise RuntimeError(f"the wheel installs {', '.join(sorted(added))}")
        subprocess.run([*install, str(wheel)], check=True)
        subprocess.run([own, "-c", TRIAL], cwd=place, check=True, stdout=subprocess.DEVNULL)
        command = str(place / "env" / "bin" / "macaw")
        done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
        return done.stdout.strip()


def packages(python: str) -> set[str]:
    """The names in the folder of an environment's packages."""
    code = "import sysconfig, os; print(*os.listdir(sysconfig.get_path('purelib')), sep='\\n')"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def pythons() -> list[tuple[str, str]]:
    """The commands of `PYTHONS` that start, each with the `PYENV_VERSION` that it needs."""
    versions = [""]
    if shutil.which("pyenv"):
        listed = subprocess.run(["pyenv", "versions", "--bare"], capture_output=True, text=True)
        versions += listed.stdout.split()
    found = []
    for name in PYTHONS:
        for version in versions:
            done = subprocess.run([*_command(name, version), "--version"], capture_output=True)
            if done.returncode == 0:
                found.append((name, version))
                break
    return found


def _command(python: str, version: str) -> list[str]:
    return ["env", *([f"PYENV_VERSION={version}"] if version else []), python]


def main() -> int:
    """Build twice, compare, check and try the files; return the exit status."""
    target = Path(sys.argv[1])
    seconds = commit_time()
    hashes = []
    with tempfile.TemporaryDirectory() as name:
        for number in (1, 2):
            tree, folder = Path(name, f"tree{number}"), Path(name, f"dist{number}")
            copy_tree(ROOT, tree, SOURCES)
            hashes.append(build(tree, folder, seconds))
        if hashes[0] != hashes[1]:
            print("two builds differ:", *hashes, sep="\n", file=sys.stderr)
            return 1
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(Path(name, "dist1"), target)
    files = [str(path) for path in sorted(target.iterdir())]
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *files], check=True)
    (wheel,) = target.glob("*.whl")
    found = pythons()
    for python, version in found:
        print(
            f"{python}: {try_wheel(python, version, wheel)}, a new folder runs and passes its test"
        )
    for path, value in hashes[0].items():
        print(f"{value}  {path}")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
