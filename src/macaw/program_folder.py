"""Finds the program of a folder, so that `run`, `debug` and `profile` accept a folder's name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from macaw.errors import InputError
from macaw.golden_description import DESCRIPTION_FILE, read_description
from macaw.isa.lazy_dataclass import dataclass
from macaw.network_description import NETWORK_FILE, network_sources

MOST_CANDIDATES = 6  # named in a message


@dataclass(frozen=True)
class ProgramFiles:
    """The files of a program, and the settings that its folder gives for a run.

    A setting is None if the folder does not give it.
    """

    sources: tuple[str, ...]
    inputs: Mapping[str, str] = field(default_factory=dict)
    device: str | None = None
    max_cycles: int | None = None
    jitter: int | None = None


def find_program(paths: Sequence[str]) -> ProgramFiles:
    """Return the program that the FILEs of a command line mean: files, or one folder.

    A folder's program is the program of its net.json (a compiled network), or the program of its
    golden.toml, with inputs and settings. If the folder has neither file, its only source is the
    program.

    Raises the errors of `read_description`. Raises `InputError` for a folder among several FILEs,
    and for a folder with no program or several; the message then names the candidates.
    """
    folders = [path for path in paths if Path(path).is_dir()]
    if not folders:
        return ProgramFiles(tuple(paths))
    if len(paths) > 1:
        raise InputError(
            f"{folders[0]} is a folder: it stands for a whole program",
            "name either one folder, or files",
        )
    folder = Path(folders[0])
    for find in _WAYS:
        found = find(folder)
        if found is not None:
            return found
    raise _no_program(folder)


def _of_network(folder: Path) -> ProgramFiles | None:
    if not (folder / NETWORK_FILE).is_file():
        return None
    return ProgramFiles(network_sources(folder))


def _of_golden_test(folder: Path) -> ProgramFiles | None:
    if not (folder / DESCRIPTION_FILE).exists():
        return None
    golden = read_description(folder)
    for source in golden.sources:
        if not source.exists():
            makes = (folder / "Makefile").is_file()
            raise InputError(
                f"{folder / DESCRIPTION_FILE} names {source.name}, which is not there",
                "`make` in the folder makes it" if makes else "",
            )
    return ProgramFiles(
        tuple(map(str, golden.sources)),
        {name: str(path) for name, path in golden.inputs.items()},
        golden.device,
        golden.max_cycles,
        golden.jitter,
    )


def _only_source(folder: Path) -> ProgramFiles | None:
    sources = _sources(folder)
    return ProgramFiles((str(sources[0]),)) if len(sources) == 1 else None


# In the order in which they are tried.
_WAYS: tuple[Callable[[Path], ProgramFiles | None], ...] = (
    _of_network,
    _of_golden_test,
    _only_source,
)


def _sources(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.s") if path.is_file())


def _no_program(folder: Path) -> InputError:
    """Return the error for a folder with no program or several; its text names the candidates."""
    sources = _sources(folder)
    if sources:
        return InputError(
            f"{folder} has {len(sources)} sources, and no {DESCRIPTION_FILE} names the program's",
            f"there are {_names(sources)}: name one, or all files of the program",
        )
    below = sorted(path.parent for path in folder.glob(f"*/{DESCRIPTION_FILE}"))
    return InputError(
        f"{folder} has no program: neither a {DESCRIPTION_FILE} nor a source (.s)",
        f"there are programs in {_names(below)}"
        if below
        else "`macaw new NAME` makes a folder with one",
    )


def _names(paths: Sequence[Path]) -> str:
    more = len(paths) - MOST_CANDIDATES
    names = ", ".join(map(str, paths[:MOST_CANDIDATES]))
    return f"{names} and {more} more" if more > 0 else names
