"""The functions that assemble programs, load them from files, save them, and disassemble them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from macaw import arguments
from macaw.arguments import check_arguments
from macaw.asm.program import Program
from macaw.errors import InputError
from macaw.files import read_bytes, write_bytes
from macaw.isa import reading

if TYPE_CHECKING:
    from macaw.asm.listing import Record
    from macaw.asm.object_file import ObjectFile
    from macaw.asm.relocatable import Relocatable
    from macaw.asm.source import Source
    from macaw.isa.config import Configuration

FilePath: TypeAlias = "str | os.PathLike[str]"
DeviceLike: TypeAlias = "str | os.PathLike[str] | Configuration"

ELF_MAGIC = b"\x7fELF"
DEFAULT_DEVICE = "base"
_C = (".c", ".cc", ".cpp", ".cxx", ".h")  # suffixes


@check_arguments(device=arguments.device)
def configuration(device: DeviceLike = DEFAULT_DEVICE) -> Configuration:
    """Return the configuration of `device`, the name of a preset or the path of a TOML file.

    A `Configuration` is returned unchanged. Raises `ConfigError` for an invalid device.
    """
    from macaw.isa import config

    if isinstance(device, config.Configuration):
        return device
    return config.load(os.fspath(device))


def _source(value: object) -> str | None:
    """Return None for a path or a correct `Source`, else a text that describes such values.

    This is a check for `macaw.arguments`, which puts the text into the error message. A `Source` is
    correct if its members have the right types.
    """
    from macaw.asm.source import Source

    if not isinstance(value, Source):
        return None if arguments.path(value) is None else "the path of a file, or a Source"
    words = all(isinstance(each, str) for each in (value.text, value.name))
    good = words and isinstance(value.folder, Path | None)
    return None if good else "a Source of two strings and the Path of a folder"


_ASSEMBLING: Mapping[str, arguments.Kind] = {
    "sources": _source,
    "device": arguments.optional(arguments.device),
    "defines": arguments.optional(
        arguments.mapping(
            arguments.either("a string or a number", arguments.word, arguments.integer),
            "strings and whole numbers by name",
        )
    ),
    "include_dirs": arguments.sequence(arguments.path, "a list of folders"),
    "record": arguments.optional(
        arguments.instance("a Record of macaw.asm.listing", "macaw.asm.listing:Record")
    ),
    "gnu": arguments.flag,
}


@check_arguments(**_ASSEMBLING)
def assemble(
    *sources: FilePath | Source,
    device: DeviceLike | None = None,
    defines: Mapping[str, str | int] | None = None,
    include_dirs: Collection[FilePath] = (),
    record: Record | None = None,
    gnu: bool = False,
) -> Program:
    """Assemble one program from one or several sources: paths, or `Source(text, name)`.

    `device` overrides the source's `.device`. `defines` gives values to symbols. `include_dirs` are
    folders in which the assembler looks for files of `.include`. The result's `warnings` are the
    assembler's warnings. With a `record`, `macaw.asm.listing.text(program, record)` returns the
    listing. With `gnu`, statements before the first `.core` of a source belong to cp, the command
    processor.

    Raises `AssemblyError` with all errors, among them files that cannot be read. Raises
    `InputError` for arguments that are no sources, `ConfigError` for an invalid device.
    """
    from macaw.asm import assembler

    return assembler.assemble(
        _sources(sources),
        device=None if device is None else configuration(device),
        defines=arguments.python_numbers(defines),
        include_dirs=[os.fspath(folder) for folder in include_dirs],
        record=record,
        gnu=gnu,
    )


def _sources(sources: Sequence[FilePath | Source]) -> list[str | Path | Source]:
    """Return the sources in the types that the assembler accepts.

    Raises `InputError` if there are none.
    """
    from macaw.asm.source import Source

    if not sources:
        raise InputError("nothing to assemble")
    for item in sources:
        if isinstance(item, str) and "\n" in item and not os.path.lexists(item):
            raise InputError(
                "a source of several lines is no file name", "macaw.Source(text, 'name.s')"
            )
        if not isinstance(item, Source) and Path(item).suffix.lower() in _C:
            hint = "a C compiler makes an object of it, a linker an executable (docs/c.md)"
            raise InputError(f"{os.fspath(item)} is C, no assembly source", hint)
    return [item if isinstance(item, Source) else _named_source(item) for item in sources]


def _named_source(path: FilePath) -> str | Source:
    """Return the path of a source, but the source itself if it is in a pipe."""
    if not reading.is_pipe(path):
        return os.fspath(path)
    return _piped_source(path, read_bytes(path, reading.MOST_SOURCE))


def _piped_source(path: FilePath, data: bytes) -> Source:
    """Return the source with the bytes of a pipe, whose files are below the current folder.

    Raises `InputError` if the bytes are not UTF-8.
    """
    from macaw.asm.assembly_inputs import why_no_text
    from macaw.asm.source import Source

    try:
        text = reading.decode(data)
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: {why_no_text(error)[0]}") from None
    return Source(text, os.fspath(path), Path.cwd())


@check_arguments(**_ASSEMBLING)
def assemble_object(
    *sources: FilePath | Source,
    device: DeviceLike | None = None,
    defines: Mapping[str, str | int] | None = None,
    include_dirs: Collection[FilePath] = (),
    record: Record | None = None,
    gnu: bool = False,
) -> Relocatable:
    """Assemble an object, which a linker joins with other objects to a program (`macaw asm -c`).

    The arguments and the errors are the same as for `assemble`. If no source defines a symbol, the
    linker finds it in another object. If the sources have no code for cp, the command processor,
    the object has none either, whereas `assemble` adds cp's default program. `save_object` writes
    the object to a file; `linker_script` and `c_header` return texts with its addresses.
    """
    from macaw.asm import assembler

    return assembler.assemble_object(
        _sources(sources),
        device=None if device is None else configuration(device),
        defines=arguments.python_numbers(defines),
        include_dirs=[os.fspath(folder) for folder in include_dirs],
        record=record,
        gnu=gnu,
    )


_RELOCATABLE = arguments.instance("a Relocatable", "macaw.asm.relocatable:Relocatable")


@check_arguments(path=arguments.path)
def is_object(path: FilePath) -> bool:
    """Return whether a file begins like an ELF file. Raises `InputError` if it cannot be read."""
    return read_bytes(path)[:4] == ELF_MAGIC


@check_arguments(path=arguments.path)
def load_object(path: FilePath) -> Program:
    """Return the program of an ELF file.

    The ELF file has the names of the source files, which may be relative paths. A name that leads
    to no file from the current folder, but to one from the folder of the ELF file, is replaced by
    the path of that file, so that a debugger finds the source. Raises `InputError` if the ELF file
    cannot be read or is no ELF file, `ElfError` if it is no program for Macaw.
    """
    from macaw.asm.lines import LineTable

    program = _program_of(path, _elf_bytes(path))
    folder = Path(path).parent
    if folder == Path() or not isinstance(program.lines, LineTable):
        return program

    def locate(file: str) -> str:
        beside = folder / file
        is_there = beside.is_file() and not Path(file).exists() and str(beside).isprintable()
        return str(beside) if is_there else file

    sources = tuple(map(locate, program.source_files))
    return replace(program, lines=program.lines.renamed(locate), source_files=sources)


@check_arguments(path=arguments.path)
def read_elf(path: FilePath) -> Program | ObjectFile:
    """Return the contents of an ELF file: a program, or the sections of an object for a linker.

    Raises `InputError` if the file cannot be read or is no ELF file, `ElfError` if it is not for
    Macaw.
    """
    from macaw.asm import elf_headers

    data = _elf_bytes(path)
    if not elf_headers.is_object(data):
        return _program_of(path, data)
    from macaw.asm import object_read

    with _errors_named(path):
        return object_read.read(data)


def _program_of(path: FilePath, data: bytes) -> Program:
    """Return the program of the ELF file `path` with the bytes `data`. Raises `ElfError`."""
    from macaw.asm import elf

    with _errors_named(path):
        return elf.read(data)


@contextmanager
def _errors_named(path: FilePath) -> Iterator[None]:
    """Put the path of an ELF file before the message of an `ElfError` of the block."""
    from macaw.asm.elf import ElfError

    try:
        yield
    except ElfError as error:
        raise ElfError(f"{os.fspath(path)}: {error}") from None


def _elf_bytes(path: FilePath) -> bytes:
    """Return the bytes of an ELF file. Raises `InputError` for a file that is no ELF file."""
    data = read_bytes(path)
    if data[:4] != ELF_MAGIC:
        raise InputError(f"{os.fspath(path)} is no ELF file", "`macaw asm` makes one from a source")
    return data


@check_arguments(
    path=arguments.path, more=arguments.path, device=arguments.optional(arguments.device)
)
def load(path: FilePath, *more: FilePath, device: DeviceLike | None = None) -> Program:
    """Return the program of an ELF file, or of sources, which this function assembles.

    Several sources make one program; `device` overrides the sources' `.device`. If the sources are
    those of a compiled network, the program has the network's layers (`Program.network`). Raises
    the errors of `assemble` and `load_object`, and `InputError` for a folder and for an ELF file
    among several files.
    """
    for item in (path, *more):
        if Path(item).is_dir():
            raise _folder_error(item)
    if not more:
        if reading.is_pipe(path):
            return _from_pipe(path, device)
        return load_object(path) if is_object(path) else assemble(path, device=device)
    for item in (path, *more):
        if not reading.is_pipe(item) and is_object(item):
            raise InputError(
                f"{os.fspath(item)} is an ELF file: it is a whole program",
                "several files are sources; a linker puts objects together (docs/c.md)",
            )
    from macaw.network_description import program_network

    program = assemble(path, *more, device=device)
    network = program_network([os.fspath(item) for item in (path, *more)])
    return program if network is None else replace(program, network=network)


def _folder_error(folder: FilePath) -> InputError:
    """Return the error for a folder in place of a program; its hint says what to load from it."""
    from macaw.network_description import NETWORK_FILE
    from macaw.program_folder import find_program

    path = os.fspath(folder)
    if (Path(path) / NETWORK_FILE).is_file():
        hint = f"macaw.load_network({path!r}) loads the network in it"
    else:
        try:
            hint = f"its program: {', '.join(map(repr, find_program([path]).sources))}"
        except InputError as error:
            hint = error.hint
    return InputError(f"{path} is a folder, not a file of a program", hint)


def _from_pipe(path: FilePath, device: DeviceLike | None) -> Program:
    """Return the program in a pipe, which has an ELF file or a source.

    The function reads the pipe before it decides which of them it is, because a pipe cannot be read
    a second time.
    """
    data = read_bytes(path, reading.MOST_SOURCE)
    if data[:4] == ELF_MAGIC:
        return _program_of(path, data)
    return assemble(_piped_source(path, data), device=device)


@check_arguments(
    program=arguments.program,
    path=arguments.path,
    format=arguments.word,
    lines=arguments.flag,
    memory=arguments.optional(arguments.word),
)
def save(
    program: Program,
    path: FilePath,
    *,
    format: str = "elf",  # noqa: A002 - as in `macaw asm --format`
    lines: bool = True,
    memory: str | None = None,
) -> None:
    """Write the program as an ELF file, or as an image in a format of `macaw.asm.images.FORMATS`.

    With `lines`, an ELF file also contains data for debuggers: the source lines, and the names,
    types and addresses of the arrays that are divided into parts. `memory`, one of
    `macaw.asm.images.MEMORIES`, limits an image to this memory. Raises `InputError` for a file that
    cannot be written, an unknown format and an unknown memory. Raises `ElfError` for a program that
    ELF cannot represent.
    """
    write_bytes(path, program_bytes(program, format, lines, memory))


def program_bytes(program: Program, file_format: str, lines: bool, memory: str | None) -> bytes:
    """Return the bytes of the file that `save` writes. Raises the errors of `save`."""
    from macaw.asm import elf, images

    if file_format == "elf":
        if memory is not None:
            raise InputError("an ELF file holds all memories", "leave the memory out")
        return elf.write(program, lines=lines)
    for what, word, words in (
        ("format", file_format, ("elf", *images.FORMATS)),
        ("memory", memory, (None, *images.MEMORIES)),
    ):
        if word not in words:
            hint = "there are " + ", ".join(filter(None, words))
            raise InputError(f"no {what} is called '{word}'", hint)
    try:
        return images.write(program, file_format, memory)
    except images.ImageError as error:
        raise InputError(error.message, error.hint) from None


@check_arguments(item=_RELOCATABLE, path=arguments.path, lines=arguments.flag)
def save_object(item: Relocatable, path: FilePath, *, lines: bool = True) -> None:
    """Write an object as an ELF file for a linker.

    With `lines`, the file contains the source lines. Raises `InputError` for a file that cannot be
    written, `ElfError` for an object that ELF cannot represent.
    """
    write_bytes(path, object_bytes(item, lines))


def object_bytes(item: Relocatable, lines: bool) -> bytes:
    """Return the bytes of the file that `save_object` writes. Raises `ElfError`."""
    from macaw.asm import elf_object

    return elf_object.write(item, lines=lines)


@check_arguments(item=_RELOCATABLE)
def linker_script(item: Relocatable) -> str:
    """Return the linker script for an object and its device, for GNU ld and ld.lld."""
    from macaw.asm import linker_script

    return linker_script.write(item, _configuration_of(item))


@check_arguments(
    item=arguments.optional(_RELOCATABLE),
    device=arguments.optional(arguments.device),
)
def c_header(item: Relocatable | None = None, *, device: DeviceLike | None = None) -> str:
    """Return the text of macaw.h, the C header of a device.

    The header has macros for the device's instructions and addresses. With an object, the header
    also has the addresses of the object's program. The default `device` is the object's device, or
    else `DEFAULT_DEVICE`. Raises `ConfigError` for an invalid device.
    """
    from macaw.asm import c_header

    if item is not None and device is None:
        return c_header.write(item, _configuration_of(item))
    return c_header.write(item, configuration(device or DEFAULT_DEVICE))


def _configuration_of(item: Relocatable) -> Configuration:
    from macaw.isa import config

    return config.parse(item.program.config_toml, item.program.device)


@check_arguments(
    program=arguments.either(
        "a Program or the path of a file",
        arguments.program_or_path,
        arguments.instance("an ObjectFile", "macaw.asm.object_file:ObjectFile"),
    ),
    core=arguments.optional(arguments.word),
    section=arguments.optional(arguments.word),
    raw=arguments.flag,
)
def disassemble(
    program: Program | ObjectFile | FilePath,
    *,
    core: str | None = None,
    section: str | None = None,
    raw: bool = False,
) -> str:
    """Return source text that assembles to the bytes of a program.

    With `core`, the text has only this core's parts, with `section` only the section of that name.
    With `raw`, the text lists addresses and bytes with their meaning, and cannot be assembled. For
    an object for a linker, the text is always such a list, with relocations and source lines.

    Raises `DisassemblyError`, and for a path the errors of `read_elf`.
    """
    from macaw.asm import disassembler
    from macaw.asm.object_file import ObjectFile

    item = program if isinstance(program, Program | ObjectFile) else read_elf(program)
    if isinstance(item, ObjectFile):
        return disassembler.list_object(item, core, only=section)
    return disassembler.disassemble(item, core, only=section, raw=raw)
