"""The `macaw` command: imports subcommands on demand, and prints errors without a traceback."""

from __future__ import annotations

import atexit
import contextlib
import gc
import os
import sys
import threading
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import click

from macaw.errors import EXIT_INTERRUPTED, EXIT_SUCCESS, EXIT_WRONG_INPUT, status_of
from macaw.isa.errors import MacawError
from macaw.terminal.plain import plain_from_environment
from macaw.terminal.substitutes import accept_all_text

# The commands and their short help, so that the list of commands imports none of them. Each is
# `command` in src/macaw/commands/<name>.py and has the same short help there.
COMMANDS = {
    "new": "Make a folder with a small program to begin with.",
    "asm": "Assemble source files into an executable or object.",
    "dis": "Disassemble an executable or an object.",
    "header": "Write macaw.h: instructions and addresses for C.",
    "fmt": "Lay out sources: columns, blanks, comments.",
    "run": "Run a program (source or executable) on the emulated device.",
    "debug": "Debug a program: step, stop, look, go back.",
    "profile": "Say where a program's cycles go.",
    "annotate": "Say what each line of the source costs.",
    "sweep": "Run on many devices that differ in settings, and compare.",
    "test": "Run golden tests and compare the results with recordings.",
    "isa": "Describe instructions, from the tables.",
    "device": "Print a device's whole configuration as TOML.",
    "lower": "Lower a network operation, or a graph, to a program.",
    "quantise": "Give an ONNX model integers, and say what each layer loses.",
    "estimate": "Predict what each layer of an ONNX model costs.",
    "compile": "Compile an ONNX model to a program.",
    "concord": "Write an nnp program as software that gives the same bits.",
    "protect": "Store weights in a random order, in separate files.",
    "lsp": "Serve an editor: the Language Server Protocol.",
    "dap": "Serve the debugger of an editor: the Debug Adapter Protocol.",
    "completion": "Print the script that completes macaw in a shell.",
    "help": "Show the help of a command.",
}

# Commands for which the garbage collector is not worth its time: they end soon, and make hardly any
# reference cycles.
SHORT_COMMANDS = ("asm", "dis", "header", "fmt", "isa", "device", "completion", "help")

# The new objects between two runs of the garbage collector. Python's default of 700 is reached a
# hundred times while a command imports its modules, whose objects remain to the command's end.
_SELDOM = 100_000

# How long the threads of NumPy's library OpenBLAS spin without work before they sleep, as the
# logarithm (base 2) of processor cycles. The threads start with NumPy's import. With OpenBLAS's own
# value of 26 or more, spinning is a fifth of the CPU time of a short `macaw run`. With this value
# it is under a millisecond, and still long enough for the next of several matrix products.
_SPINNING = "20"

# Commands that converse with a user or an editor, and show progress themselves.
CONVERSATIONS = ("debug", "lsp", "dap")

FIRST_STEPS = """\
Macaw assembles, runs, profiles and debugs programs for accelerators of neural
networks.

First steps:
  macaw new demo           make a folder with a small program and its input
  macaw run demo           run it and print its outputs
  macaw profile demo       see where its cycles go
  macaw debug demo         step through it, forwards and backwards
  macaw estimate net.onnx  predict what each layer of a network costs

All commands:  macaw --help
One command:   macaw help run
"""

EPILOG = "Exit status: 0 done, 1 the program faulted or a comparison differed, 2 wrong input."


class ReaderGone(Exception):
    """The process that reads the command's output has closed the pipe.

    This happens with `macaw dis x | head`. The command then ends without a message.
    """


@contextlib.contextmanager
def _raise_reader_gone() -> Iterator[None]:
    """Raise `ReaderGone` if the `with` block raises BrokenPipeError.

    So click does not catch BrokenPipeError, for which it would exit with status 1.
    """
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderGone from error


class LazyGroup(click.Group):
    """A click group that imports a subcommand when the user calls the subcommand.

    The pattern is from click's manual, "Complex Applications".
    """

    def make_context(self, *arguments: Any, **keywords: Any) -> click.Context:
        with _raise_reader_gone():
            return super().make_context(*arguments, **keywords)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            click.echo(FIRST_STEPS, nl=False, err=True)
            ctx.exit(EXIT_WRONG_INPUT)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        with _raise_reader_gone():
            return super().invoke(ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"macaw.commands.{name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in SHORT_COMMANDS:
            gc.set_threshold(_SELDOM, *gc.get_threshold()[1:])
            gc.enable()
        if name not in COMMANDS and not name.startswith("-"):
            from macaw.phrases import did_you_mean

            hint = did_you_mean(name, COMMANDS)
            ctx.fail(f"no command '{name}'{'; ' + hint if hint else ''}")
        if name not in CONVERSATIONS and not ctx.resilient_parsing:
            from macaw.terminal.progress_bar import CommandBar

            ctx.with_resource(CommandBar(name))
        return super().resolve_command(ctx, args)


def _show_version(ctx: click.Context, _option: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from macaw import __version__

        click.echo(f"macaw {__version__}")
        ctx.exit()


@click.command(
    cls=LazyGroup,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("--debug", is_flag=True, help="Show the traceback of an error (also MACAW_DEBUG=1).")
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and stop.",
)
@click.pass_context
def cli(ctx: click.Context, debug: bool) -> None:
    """Assemble, run and inspect programs for the Macaw neural-network device."""
    ctx.ensure_object(dict)["debug"] = debug


def main(arguments: list[str] | None = None) -> None:
    """Run the command line `arguments` (by default `sys.argv`), and exit with its status."""
    gc.disable()  # until it is clear that the command runs long
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", _SPINNING)
    _exit(run_command(sys.argv[1:] if arguments is None else arguments))


def _exit(status: int) -> None:
    """End the process with `status`, without freeing its objects.

    Freeing them would take a tenth of the time of a short run. The caller must have written the
    output. If there are threads, or a debugger or profiler is active, the process ends as usual.
    """
    watched = sys.gettrace() or sys.getprofile() or sys.flags.interactive
    if watched or threading.active_count() > 1:
        sys.exit(status)
    atexit._run_exitfuncs()
    os._exit(status)


def run_command(arguments: list[str]) -> int:
    """Run the command line `arguments`, report every error, and return the exit status."""
    _replace_missing_streams()
    accept_all_text()
    debug = "--debug" in arguments[:1] or os.environ.get("MACAW_DEBUG", "") not in {"", "0"}
    with plain_from_environment():
        try:
            status = _run_click(arguments)
        except Exception as error:
            if debug:
                raise
            status = _report_error(error)
        return _flush_streams(status)


def _run_click(arguments: list[str]) -> int:
    """Run the command line `arguments` and return its exit status.

    Prints the errors that click finds in the command line. The status does not change if such a
    message cannot be written.
    """
    try:
        status = cli.main(arguments, prog_name="macaw", standalone_mode=False)
    except click.ClickException as error:
        with contextlib.suppress(OSError):
            error.show()
            _explain_option(error)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort) as error:
        # Click turns Ctrl-C into an Abort; the cause may be our `RunInterrupted`.
        text = str(error.__cause__ or error) or "interrupted"
        with contextlib.suppress(OSError):
            click.echo(f"macaw: {text}", err=True)
        return EXIT_INTERRUPTED
    except ReaderGone:
        return EXIT_SUCCESS
    return status if isinstance(status, int) else EXIT_SUCCESS


def _explain_option(error: click.ClickException) -> None:
    """Print a hint for an error of the command line.

    For a missing option it is the option's help. For an unknown option before the name of the
    command it says where options belong.
    """
    if isinstance(error, click.NoSuchOption) and error.ctx is not None and not error.ctx.parent:
        click.echo("hint: the options of a command come after its name", err=True)
    if isinstance(error, click.MissingParameter) and isinstance(error.param, click.Option):
        option = error.param
        usage = " ".join(filter(None, (option.opts[0], option.metavar)))
        click.echo(f"hint: {usage}: {option.help}", err=True)


def _replace_missing_streams() -> None:
    """Replace standard output and error by the null device if the caller has closed them (`>&-`).

    Python has None in place of such a stream.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            from pathlib import Path  # late, because it imports parsers of addresses

            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - stays open
            setattr(sys, name, nowhere)


def _flush_streams(status: int) -> int:
    """Write the buffered output and return the exit status.

    The result is `status`. But if `status` is 0 and standard output cannot be written, the function
    prints the error and returns the error's exit status; a pipe that the reader has closed is no
    error. A stream that cannot be written is replaced by the null device, because Python would
    write to it again at exit and choose another status.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            with contextlib.suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            if stream is sys.stdout and not status and not isinstance(error, BrokenPipeError):
                status = _report_error(error)
    return status


def _report_error(error: Exception) -> int:
    """Print an error and return its exit status."""
    from macaw.terminal import console
    from macaw.terminal.diagnostics_output import print_diagnostics

    # Not imported: if the module is not loaded, it has raised nothing.
    diagnostics = sys.modules.get("macaw.asm.diagnostics")
    if diagnostics is not None and isinstance(error, diagnostics.AssemblyError):
        print_diagnostics(error.diagnostics)
        return EXIT_WRONG_INPUT
    if isinstance(error, MacawError):
        console.error(error.message, getattr(error, "command_hint", error.hint))
        return status_of(error)
    if isinstance(error, OSError) and error.errno is not None:
        place = f"{error.filename}: " if error.filename else ""
        console.error(f"{place}{error.strerror or error}")
    elif isinstance(error, MemoryError):
        console.error("out of memory")
    else:
        console.error(
            f"internal error: {type(error).__name__}: {error}",
            "this is a mistake in Macaw, not in your program; `macaw --debug ...` shows where. "
            "Please report that text together with the source.",
        )
    return EXIT_WRONG_INPUT
