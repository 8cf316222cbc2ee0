"""The command `macaw fmt`: formats sources."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from macaw.commands.options import FileName, plain_option
from macaw.errors import EXIT_FAILURE, EXIT_SUCCESS, EXIT_WRONG_INPUT, InputError

_STDIN = "-"
_ENDINGS = (".s", ".asm", ".inc")  # of sources, in small or capital letters


@click.command("fmt", short_help="Lay out sources: columns, blanks, comments.")
@click.argument("files", nargs=-1, required=True, type=FileName(), metavar="FILE...")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 if a file would change.")
@click.option("--diff", is_flag=True, help="Write nothing; print what would change.")
@plain_option
def command(files: tuple[str, ...], check: bool, diff: bool) -> int:
    """Format FILEs and print the names of the files that changed.

    Only blanks and empty lines change. A folder means all .s files in and below it. - means
    standard input, whose formatted text goes to standard output. Other files must end in .s, .asm
    or .inc. A file is written only if its statements stay the same. If it can be assembled without
    other files, its program must stay the same, too.
    """
    from macaw.terminal import console

    paths: list[str] = []
    status = EXIT_SUCCESS
    for name in files:
        try:
            paths += _source_files(name)
        except InputError as error:
            console.error(error.message, error.hint)
            status = EXIT_WRONG_INPUT
    for path in dict.fromkeys(paths):
        try:
            changed = _format_file(path, check=check, diff=diff)
        except InputError as error:
            console.error(error.message, error.hint)
            status = EXIT_WRONG_INPUT
            continue
        if changed and check and status == EXIT_SUCCESS:
            status = EXIT_FAILURE
    return status


def _source_files(name: str) -> list[str]:
    """Return the file `name`, or all .s files in and below the folder `name`.

    Hidden files and folders are left out. Raises `InputError` for a folder that cannot be read, or
    that has no such file.
    """
    from macaw.files import walk

    path = Path(name)
    if name == _STDIN or not path.is_dir():
        return [name]
    sources: list[Path] = []
    for folder, folders, names in walk(path):
        folders[:] = [item for item in folders if not item.startswith(".")]
        files = (folder / item for item in names if item.endswith(".s") and item[0] != ".")
        sources += filter(Path.is_file, files)
    if not sources:
        raise InputError(f"there is no .s file in {name}")
    return [str(item) for item in sorted(sources)]


def _format_file(path: str, *, check: bool, diff: bool) -> bool:
    """Format one file; return whether formatting changes its text.

    With `check` or `diff`, the file is not written. Raises `InputError` if it cannot be read,
    formatted or written, or if its name is that of another kind of file.
    """
    from macaw.asm.formatter import format_text
    from macaw.files import read_bytes, write_bytes
    from macaw.isa import reading
    from macaw.terminal import console

    stdin = path == _STDIN
    name = "<stdin>" if stdin else console.printable(path)
    most = reading.MOST_SOURCE
    data = sys.stdin.buffer.read(most + 1) if stdin else read_bytes(path, most)
    if len(data) > most:
        raise InputError(f"{name} is longer than {most} bytes")
    if not (stdin or reading.is_pipe(path) or path.lower().endswith(_ENDINGS)):
        raise InputError(
            f"{name} is no assembly source: its name does not end in .s, .asm or .inc",
            f"`{_STDIN}` as FILE formats any text, from standard input",
        )
    before = _decode(data, name)
    after = format_text(before)
    formatted_data = after.encode()
    if diff:
        _print_diff(before, after, name)
    elif stdin and not check:
        _check_same_program(before, after, path)
        click.echo(after, nl=False)
        return False
    elif formatted_data != data:
        if not check:
            if reading.is_pipe(path):
                raise InputError(f"{name} is a pipe, not a file", f"`{_STDIN}` is standard input")
            _check_same_program(before, after, path)
            write_bytes(path, formatted_data)
        click.echo(name)
    return formatted_data != data


def _decode(data: bytes, name: str) -> str:
    """Return the text of a source. Raises `InputError` if the bytes are not UTF-8 text."""
    from macaw.asm import elf_format
    from macaw.isa import reading

    if data.startswith(elf_format.MAGIC):
        raise InputError(f"{name} is an ELF file, no source text")
    try:
        text = reading.decode(data)
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is no text in UTF-8: byte {error.start} is wrong") from None
    if "\0" in text:
        raise InputError(f"{name} is no source: it holds a zero byte")
    return text


def _check_same_program(before: str, after: str, path: str) -> None:
    """Raise `InputError` if formatting has changed the program of the source `path`.

    `before` is the text before formatting, `after` the text after it.
    """
    from macaw.asm.equivalence import same_program, same_tokens
    from macaw.asm.source import Source

    if before == after:
        return
    folder = Path() if path == _STDIN else Path(path).parent
    if (
        same_tokens(before, after)
        and same_program(Source(before, path, folder), after) is not False
    ):
        return
    raise InputError(
        f"{path} is left as it is: its layout would change what it means",
        "this is a mistake in Macaw; please report it together with the source",
    )


def _print_diff(before: str, after: str, name: str) -> None:
    from difflib import unified_diff

    old, new = (re.findall("[^\n]*\n|[^\n]+", text) for text in (before, after))
    for line in unified_diff(old, new, name, f"{name} (formatted)"):
        whole = line.endswith("\n")
        click.echo(line if whole else f"{line}\n\\ No newline at end of file\n", nl=False)
