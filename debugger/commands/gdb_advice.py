"""Advice for users of GDB: the lines to type in place of GDB commands that do not exist here.

The file tests/debugger/gdb_habits.toml has an entry for each form of line that GDB's users type:
the form, and what the debugger does with such a line.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Advice(NamedTuple):
    """A sentence about a difference from GDB, and a hint with the line to type."""

    message: str
    hint: str = ""


_SHOW = r"(?:set|show)\s+"
_INFO = r"(?:i|inf|info)\s+"
_OUTSIDE = "in a shell, before the session"
_C = "gdb knows C's types and variables: macaw debug --gdb PORT, then `target remote :PORT` in gdb"

_ROWS: tuple[tuple[str, Advice], ...] = (
    # Commands of programs that an operating system runs
    (
        r"k|kill(\s.*)?",
        Advice("the program runs inside the debugger", "start loads it again, quit leaves"),
    ),
    (
        r"(attach|detach|inferior|add-inferior|clone-inferior|remove-inferiors|disconnect)(\s.*)?",
        Advice(
            "the debugger has one program, which it has loaded itself",
            "macaw debug PROGRAM debugs another",
        ),
    ),
    (
        r"(file|exec-file|symbol-file|add-symbol-file|add-symbol-file-from-memory|remove-symbol-file|"
        r"core-file|core|section)(\s.*)?|load(\s+\S+\.(elf|o|hex|srec|bin))?",
        Advice("the program is chosen when the debugger starts", "macaw debug PROGRAM"),
    ),
    (
        r"(target|tar|remote)(\s.*)?",
        Advice("the target is the emulated device", "macaw debug --device NAME chooses another"),
    ),
    (
        r"(generate-core-file|gcore)(\s.*)?",
        Advice(
            "a session is kept as commands",
            "save session FILE writes them, source FILE repeats them",
        ),
    ),
    (
        r"(signal|queue-signal|handle)(\s.*)?",
        Advice("the cores have no signals", "catch fault stops when a core faults"),
    ),
    (
        r"(sharedlibrary|nosharedlibrary|symbol-reload)(\s.*)?",
        Advice("programs have no shared libraries"),
    ),
    (
        r"(tty|unset|path|set\s+(env\w*|args?|cwd)|show\s+(env\w*|args?|cwd|paths))(\s.*)?",
        Advice(
            "a program has no arguments and no environment",
            "macaw debug -i NAME=FILE gives it inputs",
        ),
    ),
    (
        r"(r|run)\s+[<>].*",
        Advice("a program has no files", "macaw debug -i NAME=FILE gives it inputs"),
    ),
    (
        r"(r|run|start|starti)\s+\S.*",
        Advice("a program has no arguments", "macaw debug -i NAME=FILE gives it inputs"),
    ),
    (r"(stop|interrupt|int)", Advice("the program stops when you press Ctrl-C")),
    (r"make(\s.*)?", Advice("the debugger does not build programs", _OUTSIDE + ": make")),
    (r"(edit|ed)(\s.*)?", Advice("the debugger does not edit sources", "list shows them")),
    (
        r"(compile|expression|jit-reader-\w+|guile|gu|gr|guile-repl)(\s.*)?",
        Advice(
            "the debugger compiles no code",
            "set E = V changes the state; python needs --allow-shell",
        ),
    ),
    (
        r"(pipe|\|)(\s.*)?",
        Advice("the debugger has no pipes", "macaw debug --batch -e COMMAND | PROGRAM, in a shell"),
    ),
    (
        r"return(\s.*)?",
        Advice(
            "no command leaves a function early",
            "finish runs to its end; jump LOC goes on at another place",
        ),
    ),
    (
        r"call(/\w+)?\s.*",
        Advice(
            "the debugger calls no function of the program",
            "print E shows a value; jump LOC goes on there",
        ),
    ),
    # Going back in time
    (
        r"(rec|record)(\s.*)?",
        Advice("every run can be gone back", "reverse-continue, reverse-step, goto CYCLE"),
    ),
    (
        _SHOW + r"(exec-direction)(\s.*)?",
        Advice("each command has its direction", "reverse-continue, reverse-step, reverse-next"),
    ),
    (
        r"(delete|d)\s+(checkpoints?|bookmarks?)(\s.*)?",
        Advice(
            "checkpoints are not deleted; memory for them is bounded", "info checkpoints lists them"
        ),
    ),
    # Tracepoints and other commands that need a GDB target
    (
        r"(tstart|tstop|tstatus|trace|tp|tracepoint|ftrace|strace|collect|actions|tfind|tdump|teval|"
        r"tsave|tvariable|passcount|while-stepping|stepping|ws|agent-printf)(\s.*)?|"
        r"save\s+tracepoints(\s.*)?",
        Advice("there are no tracepoints", "dprintf prints without a stop; catch stops at events"),
    ),
    (
        r"(catch|tcatch)\s+(syscall|throw|rethrow|catch|exec|fork|vfork|load|unload|signal|assert|"
        r"exception|handlers)(\s.*)?",
        Advice("the cores have no such event", "help catch lists the events"),
    ),
    (
        r"skip(\s.*)?",
        Advice("no function is skipped", "next goes over calls, finish leaves a function"),
    ),
    (
        _INFO + r"skip",
        Advice("no function is skipped", "next goes over calls, finish leaves a function"),
    ),
    # Screen
    (
        r"(tui|tu)(\s.*)?",
        Advice(
            "on a terminal the screen is there from the start",
            "--plain starts without it; panel NAME shows a panel",
        ),
    ),
    (
        r"(fs|focus)\s+(src|asm|regs|cmd|next|prev)",
        Advice(
            "in this debugger the focus is the core that commands are about",
            "Alt-1 to Alt-0 choose a panel, Esc the command line",
        ),
    ),
    (
        r"(winheight|wh|winwidth|\+|-|<|>)(\s.*)?",
        Advice("panel NAME grow and shrink change a panel's height"),
    ),
    (r"(layout|la|lay)\s+(next|prev)", Advice("layouts have names", "help layout lists them")),
    (r"refresh|update", Advice("the screen draws itself after each command")),
    (_INFO + r"win", Advice("panel lists the panels")),
    # Settings
    (
        _SHOW + r"height(\s.*)?",
        Advice("pages are as high as the panel", "pagination off shows no pages"),
    ),
    (
        _SHOW + r"(pagination|confirm|width|verbose|complaints)(\s.*)?",
        Advice("the debugger asks no questions and wraps long lines", "pagination on, off"),
    ),
    (
        _SHOW + r"(logging|trace-commands)(\s.*)?",
        Advice("the debugger writes no log", "macaw debug --batch -x FILE > LOG, in a shell"),
    ),
    (
        _SHOW + r"(print|p|pr|language|lang|radix|output-radix|input-radix|max-value-size)(\s.*)?",
        Advice(
            "print takes the format itself", "print/x E, print/f16 E; help print lists the formats"
        ),
    ),
    (
        _SHOW + r"(history)(\s.*)?",
        Advice("lines are kept for the next session by themselves", "history lists them"),
    ),
    (
        _SHOW + r"(step-mode|scheduler-locking|schedule-multiple|non-stop|follow-fork-mode|"
        r"detach-on-fork|disassemble-next-line|disassembly-flavor|can-use-hw-watchpoints|"
        r"breakpoint|stop-on-solib-events|style|tui|remote|remotetimeout|architecture|arch|"
        r"endian|osabi|sysroot|auto-load|debug|startup-with-shell|disable-randomization|"
        r"prompt|editing|listsize|backtrace|substitute-path|directories|dir|case-sensitive|"
        r"charset|multiple-symbols|overload-resolution|opaque-type-resolution|unwindonsignal|"
        r"write|annotate|check|circular-trace-buffer|record|python|extension-language|"
        r"data-directory|debuginfod|exec-wrapper|inferior-tty|mi-async|mem|observer|"
        r"source|stack-cache|tcp|tdesc|trust-readonly-sections|watchdog|ada|"
        r"coerce-float-to-double|basenames-may-differ|dprintf-style)(\s.*)?",
        Advice("the debugger has no such setting", "help lists what it has"),
    ),
    (
        r"(directory|dir)(\s.*)?",
        Advice(
            "sources are found by the paths in the program",
            "start the debugger where they were assembled",
        ),
    ),
    (
        r"(with|w)\s.*--.*|with(\s.*)?",
        Advice(
            "the debugger has no settings to change for one command",
            "print takes the format itself",
        ),
    ),
    # Information about C programs and operating systems
    (
        _INFO + r"(locals|args|scope|types?|type-printers|vtbl|selectors|classic\S*|classes|common|"
        r"module\w*)(\s.*)?|(print-object|po)(\s.*)?",
        Advice("the debugger knows no types and variables of C", _C),
    ),
    (_INFO + r"(sharedlibrary|shared\w*|dll)", Advice("programs have no shared libraries")),
    (
        _INFO + r"(signals?|handle|proc|os|auxv|inferiors?|tasks?|connections|w32|dcache|"
        r"extensions|auto-load|static-tracepoint-markers|tvariables|tracepoints?|tp|"
        r"unwinder|frame-filter|xmethod|selftests|guile|exceptions|line-table|float|vector|probes|"
        r"terminal|static-tracepoint\S*)(\s.*)?",
        Advice(
            "the emulated device has nothing of that kind", "info registers, info cores, info mem"
        ),
    ),
    (_INFO + r"(copying|warranty)", Advice("the licence is Apache 2.0, in the file LICENSE")),
    (
        _INFO + r"macros?(\s.*)?",
        Advice(
            "macros are expanded by the assembler", "macaw asm --listing FILE writes them expanded"
        ),
    ),
    (
        r"macro(\s.*)?",
        Advice(
            "macros are expanded by the assembler", "macaw asm --listing FILE writes them expanded"
        ),
    ),
    (_INFO + r"set|show", Advice("show takes version, values, convenience, commands or user")),
    (
        r"(ptype|whatis)(/\w+)?\s+(struct|union|enum|class|unsigned|int|char|long|short|float|double)\b.*",
        Advice("the debugger knows no types of C", _C),
    ),
    (r"(explore|expl)(\s.*)?", Advice("print shows a value with all its members")),
    (r"(maint|maintenance|mt)(\s.*)?", Advice("the debugger has no commands about itself")),
    (
        r"(memory-tag|flash-erase|adi|add-auto-load-\S+)(\s.*)?",
        Advice(
            "the emulated device has nothing of that kind", "info registers, info cores, info mem"
        ),
    ),
    (r"flushregs", Advice("the debugger has no copies of registers to forget")),
    (
        r"(interpreter-exec|interpreter|new-ui)(\s.*)?",
        Advice(
            "the debugger has one language of commands",
            "macaw debug --json prints records; macaw dap serves editors",
        ),
    ),
    (
        r"help\s+(aliases|breakpoints|data|files|internals|obscure|running|stack|status|support|"
        r"text-user-interface|tracepoints|user-defined|all)",
        Advice(
            "commands have no classes", "help lists all commands, apropos WORD those about a word"
        ),
    ),
    (
        r"end\s*",
        Advice("end is the last line of commands, define, document, if, while and python"),
    ),
    (r"else\s*", Advice("else is a line between if and its end")),
    (
        r"loop_(break|continue)",
        Advice("no command leaves a loop early", "while E ends when E is false: set $n = 0"),
    ),
    (
        r"eval(\s.*)?",
        Advice("no command is made from a format", "define NAME makes one with $arg0"),
    ),
    (
        r"init-if-undefined(\s.*)?",
        Advice("a variable exists after its first value", "set $n = 1"),
    ),
    (
        r"break-range(\s.*)?",
        Advice("a breakpoint has no range", "break LOC, rbreak TEXT"),
    ),
    (
        r"(python-interactive|pi)(\s.*)?",
        Advice("python takes its lines up to end", "python ... end"),
    ),
    (r"define-prefix(\s.*)?", Advice("the name of a command is one word", "define NAME")),
    (r"demangle(\s.*)?", Advice("names are not mangled", "info symbol ADDRESS names an address")),
    (
        r"(overlay|ov|ovly)(\s.*)?",
        Advice("programs have no overlays", "info mem lists the sections"),
    ),
    (
        r"mem(\s.*)?|(delete|disable|enable|d|dis|en)\s+mem(\s.*)?",
        Advice("the device says what memory there is", "info mem lists it"),
    ),
    (
        r"((en|enable|dis|disable)|" + _INFO + r")\s*(pretty-printer|type-printer|frame-filter|"
        r"unwinder|xmethod|probes)s?(\s.*)?",
        Advice(
            "values have no printers of their own",
            "print/x E, print/f16 E; help print lists the formats",
        ),
    ),
    (r"save\s+gdb-index(\s.*)?", Advice("symbols are read from the program each time")),
    (
        r"((r|a)?watch|wa)\s.*\smask\s.*",
        Advice("a watch has no mask", "watch E if C: watch y[0] if y[0] & 0xff"),
    ),
    (r"(p|print|inspect|output|call)/s(\s.*)?", Advice("print shows no text", "x/s E does")),
    (
        r"(monitor|mon)(\s.*)?",
        Advice("this is the monitor already", "type the command without `monitor`"),
    ),
    (
        r"(thread|t)\s+(name|find)(\s.*)?|task(\s.*)?",
        Advice("threads are the cores", "info cores lists them"),
    ),
    (
        r"(frame|f|select-frame)\s+(apply|function|level|address|view)(\s.*)?|faas(\s.*)?|"
        r"select-frame",
        Advice("frames have numbers", "backtrace lists them, frame N chooses one"),
    ),
    (
        r"(dump|append)\s+(binary|memory|value|ihex|srec|tekhex|verilog)(\s.*)?",
        Advice(
            "values are written as .npy files",
            "dump E FILE.npy; dump mem[0x80000000].u8[0:64] FILE.npy",
        ),
    ),
    (r"(restore|append)(\s.*)?", Advice("values are read from .npy files", "load E FILE.npy")),
    (
        r"x/-\d+\w*(\s.*)?",
        Advice("x goes forward only", "x/3xw ADDRESS-12; disassemble FIRST,+BYTES"),
    ),
    (
        r"compare-sections(\s.*)?",
        Advice("info mem lists the sections", "diff E FILE.npy compares data"),
    ),
    (
        r"(en|enable)\s+(once|delete|count)(\s.*)?",
        Advice(
            "a point is enabled until you disable it",
            "tbreak LOC stops once; ignore N V passes V times",
        ),
    ),
    (
        r"(b|br|break|tb|tbreak|hbreak|thbreak)\s.*\bthread\s+\S+.*",
        Advice("threads are the cores", "break LOC at PLACES stops only these cores"),
    ),
    (
        r"(b|br|break|tb|tbreak|hbreak|thbreak)\s+(-[A-Za-z]\w*)(\s.*)?",
        Advice("options of break are words", "break LOC at PLACES if E ignore N"),
    ),
)

_EXPRESSIONS: tuple[tuple[str, Advice], ...] = (
    (
        r"\(\s*(?:(?:un)?signed\s+)?(?:char|short|int|long|float|double|void)\b[^)]*\)",
        Advice("an expression has no casts of C", "print/c E, y.i8[0], {int}ADDRESS"),
    ),
    (
        r"sizeof\s*\(\s*(?:char|short|int|long|float|double)",
        Advice("sizeof takes a symbol", "sizeof(y)"),
    ),
    (
        r"\?[^:]*:",
        Advice(
            "an expression has no ?:", "if E ... else ... end executes one of two lists of commands"
        ),
    ),
    (r"::(?![^\[]*\])", Advice("a name has no file or function before it", _C)),
    (r"->", Advice("there are no pointers to structures", _C)),
    (
        r"\$_(?:siginfo|inferior|thread|gthread|tlb|sdata|probe_\w+|exception|gdb_\w+|streq|strlen|"
        r"regex|memeq|as_string|caller_\w+|any_caller_\w+|cimag|creal|isvoid|linker_namespace)\b",
        Advice(
            "GDB's functions and variables of its own targets are not here",
            "$, $1, $_, $__, $_exitcode, $bpnum and your own $name are",
        ),
    ),
)

_LINES = tuple((re.compile(pattern, re.DOTALL), advice) for pattern, advice in _ROWS)
_PARTS = tuple((re.compile(pattern), advice) for pattern, advice in _EXPRESSIONS)


def advice_for(text: str) -> Advice | None:
    """Return the advice for a GDB line that has failed; None for any other line."""
    for pattern, advice in _LINES:
        if pattern.fullmatch(text):
            return advice
    return next((advice for pattern, advice in _PARTS if pattern.search(text)), None)
