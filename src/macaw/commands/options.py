"""Declares options that several commands share, and parses their values."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from macaw.commands import suggestions
from macaw.commands.outputs import STANDARD_OUTPUT
from macaw.commands.warning_option import chosen_errors, chosen_warnings, warning_option
from macaw.terminal import plain, progress_bar

if TYPE_CHECKING:
    from macaw.asm.program import Program
    from macaw.asm.warnings import WarningChoice

    _Type = click.ParamType[str]
else:
    _Type = click.ParamType  # older versions of click cannot be subscripted

T = TypeVar("T")
Command = TypeVar("Command", bound=Callable[..., Any])
NOT_PRINTED = (
    f"standard output cannot be used here; ./{STANDARD_OUTPUT} is a file or folder of this name"
)
DIGITS = 9  # of a size at most


class LazyChoice(_Type):
    """The type of an option whose value is one of the words that `words()` returns.

    The class calls `words` when the command runs, but not for `macaw --help`, so that the help
    loads no tables.
    """

    name = "choice"

    def __init__(self, words: Callable[[], Sequence[str]]) -> None:
        self._words = words

    def _choice(self) -> click.Choice[str]:
        return click.Choice(list(self._words()))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return `value` if it is one of the words; else fail with a message that lists them."""
        return str(self._choice().convert(value, param, ctx))

    def get_metavar(self, param: click.Parameter, *more: Any, **keywords: Any) -> str | None:
        """Return the words in the form in which the synopsis of a command shows them.

        Older versions of click call the method with fewer arguments.
        """
        return self._choice().get_metavar(param, *more, **keywords)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[Any]:
        """Return the words that start with `incomplete`."""
        return list(self._choice().shell_complete(ctx, param, incomplete))


class FileName(click.Path):
    """The type of an argument or option that names a file or a folder.

    The command itself reports a file that it cannot read. An empty name is refused, because Python
    takes it for the name of the current folder.
    """

    def __init__(self) -> None:
        super().__init__(readable=False)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return `value`, the name of a file; fail if it is empty."""
        if not value:
            self.fail("the name is empty", param, ctx)
        return super().convert(value, param, ctx)


class OutputName(FileName):
    """The type of an option that names a file or folder to write, and cannot print it instead."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return `value`, the name of a file; fail if it is `-`, the name of standard output."""
        if value == STANDARD_OUTPUT:
            self.fail(NOT_PRINTED, param, ctx)
        return super().convert(value, param, ctx)


def collect(pairs: Iterable[tuple[str, T]], unnamed: str = "") -> dict[str, T]:
    """Return the pairs (name, value) as a dictionary.

    Raises `click.BadParameter` if a name occurs twice. If this name is empty, the message has the
    text `unnamed` in place of it.
    """
    values: dict[str, T] = {}
    for name, value in pairs:
        if name in values:
            raise click.BadParameter(f"{name or unnamed} is given twice")
        values[name] = value
    return values


def name_file_pairs(
    _ctx: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    """Return the options NAME=FILE as a dictionary.

    Raises `click.BadParameter` for a word of another form, and for a name that occurs twice.
    """
    return collect(map(_name_and_file, values))


def output_pairs(
    _ctx: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    """Return the options NAME=FILE for outputs as a dictionary {name: file}.

    Raises `click.BadParameter` for a word of another form, for a name that occurs twice, for two
    outputs with the same file, and for `-`.
    """
    outputs = collect(map(_name_and_file, values))
    files: set[str] = set()
    for path in outputs.values():
        if path == STANDARD_OUTPUT:
            raise click.BadParameter(NOT_PRINTED)
        if os.path.realpath(path) in files:
            raise click.BadParameter(f"two outputs cannot both go to {path}")
        files.add(os.path.realpath(path))
    return outputs


def _name_and_file(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not (name and equals and path):
        raise click.BadParameter(f"'{text}' is not NAME=FILE")
    return name, path


def _engine(_ctx: click.Context, _option: click.Parameter, value: str | None) -> str:
    from macaw.emu.engines import ENGINES

    if value is not None and value not in ENGINES:
        raise click.BadParameter(f"no engine is called '{value}', there are {', '.join(ENGINES)}")
    return value or ENGINES[0]


sources_argument = click.argument(
    "sources", nargs=-1, required=True, type=FileName(), metavar="FILE..."
)


def _definitions(
    _ctx: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    """Return the options NAME=VALUE as a dictionary; a NAME without a value gets the value 1."""
    return collect(map(_name_and_value, values))


def _name_and_value(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    if not name.replace(".", "_").replace("$", "_").isidentifier():
        raise click.BadParameter(f"'{text}' is not NAME=VALUE")
    return name, value or "1"


def assembly_options(command: Command) -> Command:
    """Add -I, -D, --device and --gnu to a command that assembles."""
    for option in reversed(
        (
            file_option(
                "-I",
                "folders",
                metavar="DIR",
                multiple=True,
                text="Let directives read files below DIR.",
            ),
            click.option(
                "-D",
                "defines",
                multiple=True,
                callback=_definitions,
                metavar="NAME=VALUE",
                help="Define a symbol in every file.",
            ),
            other_device_option("Assemble for this device, not the one of .device."),
            click.option(
                "--gnu",
                is_flag=True,
                help="Statements before a source's first .core belong to cp.",
            ),
        )
    ):
        command = option(command)
    return command


def program_options(
    inputs_help: str = "Bind an input to a .npy file.",
) -> Callable[[Command], Command]:
    """Return a decorator that adds FILEs, -i, -W and --device to a command that runs a program.

    A FILE may be a folder. Then the command gets the files, inputs and settings of the folder's
    program (`program_folder`); inputs and settings of the command line replace them. `inputs_help`
    is the help of -i.
    """

    def decorate(function: Command) -> Command:
        @wraps(function)
        def command(**values: Any) -> Any:
            from macaw.program_folder import find_program

            found = find_program(values["sources"])
            values["sources"] = found.sources
            values["inputs"] = {**found.inputs, **values["inputs"]}
            for name in ("device", "max_cycles", "jitter"):
                if name in values and values[name] is None:
                    values[name] = getattr(found, name)
            return function(**values)

        for option in reversed(
            (
                sources_argument,
                click.option(
                    "-i",
                    "inputs",
                    multiple=True,
                    callback=name_file_pairs,
                    metavar="NAME=FILE",
                    help=inputs_help,
                    shell_complete=suggestions.arrays,
                ),
                other_device_option("Run on this device, not the program's."),
                warning_option,
            )
        ):
            command = option(command)
        return cast(Command, command)

    return decorate


device_option = click.option(
    "--device",
    default="base",
    show_default=True,
    metavar="NAME|FILE",
    shell_complete=suggestions.devices,
)


def file_option(
    *names: str,
    text: str,
    metavar: str = "FILE",
    multiple: bool = False,
    required: bool = False,
    kind: click.Path | None = None,
) -> Callable[[Command], Command]:
    """Return the option `names` whose value is the path of a file; `text` is the option's help.

    `metavar`, `multiple` and `required` are those of `click.option`. `kind` is the type of the
    option, by default `FileName`.
    """
    return click.option(
        *names,
        type=kind or FileName(),
        metavar=metavar,
        help=text,
        multiple=multiple,
        required=required,
    )


def other_device_option(text: str) -> Callable[[Command], Command]:
    """Return the option --device with the help `text`. Without the option the value is None."""
    return click.option(
        "--device", metavar="NAME|FILE", help=text, shell_complete=suggestions.devices
    )


def dims_option(owner: str) -> Callable[[Command], Command]:
    """Return the option --dim, which sets the sizes of named dimensions.

    The help says that `owner`, such as "the model", has these dimensions.
    """
    return click.option(
        "--dim",
        "dims",
        multiple=True,
        metavar="NAME=N",
        help=f"Set the dimension that {owner} calls NAME to N.",
    )


def _choose_plain(_ctx: click.Context, _option: click.Parameter, value: bool) -> bool:
    if value:
        plain.choose_plain()
        bar = progress_bar.present_bar()
        if bar is not None:  # that of the command, which began before its options were read
            bar.print_lines()
    return value


def own_plain_option(text: str, *, is_passed: bool) -> Callable[[Command], Command]:
    """Return the option --plain, with `text` as its help.

    The option itself chooses plain output. If `is_passed`, its value is also passed to the
    command's function as the parameter `plain`.
    """
    return click.option(
        "--plain", is_flag=True, is_eager=True, expose_value=is_passed, callback=_choose_plain,
        help=text,
    )  # fmt: skip


plain_option = own_plain_option(
    "Print without colours and drawings, one record on each line (also MACAW_PLAIN=1).",
    is_passed=False,
)

batch_option = click.option(
    "--batch",
    type=click.IntRange(min=1),
    metavar="N",
    help="Compute N samples at a time: the first dimension of the inputs is N.",
)

constants_option = click.option(
    "--constant",
    "constants",
    multiple=True,
    metavar="NAME=NUMBER",
    help="Replace the input NAME by a number.",
)


def name_pairs(words: Sequence[str], option: str, form: str) -> list[tuple[str, str]]:
    """Return the options NAME=VALUE as pairs, divided at the last `=` of each word.

    Raises `click.UsageError` for a word of another form. The message names the `option` and the
    `form`.
    """
    pairs = []
    for word in words:
        name, equals, value = word.rpartition("=")
        if not (name and equals and value):
            raise click.UsageError(f"{option} '{word}' is not of the form {form}")
        pairs.append((name, value))
    return pairs


def constant_numbers(words: Sequence[str]) -> dict[str, float]:
    """Return the options NAME=NUMBER as a dictionary.

    Raises `click.UsageError` for a word of another form.
    """
    numbers: dict[str, float] = {}
    for name, text in name_pairs(words, "--constant", "NAME=NUMBER"):
        try:
            numbers[name] = int(text)
        except ValueError:
            try:
                numbers[name] = float(text)
            except ValueError:
                where = f"--constant '{name}={text}'"
                raise click.UsageError(f"{where} is not of the form NAME=NUMBER") from None
    return numbers


def engine_option(text: str) -> Callable[[Command], Command]:
    """Return the option --engine with the help `text`; its value is the name of an engine."""
    return click.option(
        "--engine", callback=_engine, metavar="NAME", help=text, shell_complete=suggestions.engines
    )


def jitter_option(text: str) -> Callable[[Command], Command]:
    """Return the option --jitter with the help `text`; its value is a seed, None without it."""
    return click.option("--jitter", type=click.IntRange(min=0), metavar="SEED", help=text)


_DEFAULT_TABLE = "the default table"  # the value of --energy without a file


def _energy_table(_ctx: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    """Return the path of a table of energies, or an empty text for the default table.

    `value` is the value of --energy. Raises `click.BadParameter` unless its ending shows that it is
    a file of energies. Otherwise it may be a FILE of the command that was meant as its argument:
    --energy without `=` takes the next word as its value.
    """
    if value == _DEFAULT_TABLE:
        return ""
    if value == "":
        raise click.BadParameter("the name is empty")
    if value is not None and not value.endswith(".toml"):
        raise click.BadParameter(
            f"'{value}' is no table, whose name ends with .toml; write --energy after the FILEs"
        )
    return value


def energy_option(text: str) -> Callable[[Command], Command]:
    """Return the option --energy with the help `text`.

    Its value is the path of a table's file, or an empty text for the default table (`--energy`
    without a file). Without the option, the value is None.
    """
    return click.option(
        "--energy",
        is_flag=False,
        flag_value=_DEFAULT_TABLE,
        callback=_energy_table,
        metavar="[TABLE.toml]",
        help=text,
    )


def max_cycles_option(command: Command) -> Command:
    """Add the option --max-cycles to a command; without the option, its value is None."""
    return click.option(
        "--max-cycles",
        type=click.IntRange(min=1),
        metavar="N",
        help="Stop each run after N cycles.",
    )(command)


def load_program(
    sources: Sequence[str],
    device: str | None,
    inputs: Iterable[str] = (),
    outputs: Sequence[str] = (),
    hint: str = "-o names another",
    *,
    choice: WarningChoice | None,
) -> Program:
    """Return the program of a command's FILEs, and print its warnings, as `choice` (-W) says.

    Raises `InputError` with `hint` if one of the files `outputs` would overwrite a FILE, the file
    of the device, one of `inputs`, or a file that the program reads. Also raises the errors of
    `macaw.load`.
    """
    from macaw import api, files
    from macaw.terminal.diagnostics_output import print_diagnostics
    from macaw.terminal.progress_bar import ProgressBar

    refuse_other_files(sources)
    read = [*sources, *descriptions(sources), *inputs, *([device] if device else [])]
    files.refuse_overwriting(outputs, read, hint)
    with chosen_errors(choice), ProgressBar("assembling"):
        program = api.load(*sources, device=device)
    files.refuse_overwriting(outputs, program.read_files, hint)
    print_diagnostics(chosen_warnings(program, choice))
    return program


# What people give that is no program, and what to do with it.
_OTHER_FILES = {
    ".onnx": (
        "an ONNX model",
        "`macaw quantise` gives it integers, `macaw compile` makes a program of it",
    ),
    ".npy": ("an array", "-i NAME=FILE binds it to an input of a program"),
    ".py": ("Python", "python3 runs it"),
    ".c": ("C", "a C compiler makes an object of it, a linker a program: docs/c.md"),
}


def descriptions(sources: Iterable[str]) -> list[str]:
    """Return the paths of golden.toml and net.json in the folders of `sources`.

    These files describe programs. The function returns their paths even if the files do not exist.
    """
    from macaw.golden_description import DESCRIPTION_FILE
    from macaw.network_description import NETWORK_FILE

    paths = map(Path, sources)
    folders = dict.fromkeys(path if path.is_dir() else path.parent for path in paths)
    return [str(folder / name) for folder in folders for name in (DESCRIPTION_FILE, NETWORK_FILE)]


def refuse_other_files(sources: Iterable[str]) -> None:
    """Raise `InputError` for a file whose ending shows that it is no program, such as `.onnx`.

    The hint says what the user can do with a file of this type.
    """
    from macaw.errors import InputError

    for source in sources:
        what, hint = _OTHER_FILES.get(Path(source).suffix.lower(), ("", ""))
        if what:
            raise InputError(f"{source} is {what}, no program", hint)
