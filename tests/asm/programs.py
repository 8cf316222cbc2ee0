"""Random programs of macros, repetitions and conditionals that GNU as understands, too."""

from __future__ import annotations

import re

from hypothesis import strategies as st

NAMES = ("a", "b", "c")
NUMBERS = st.integers(-3, 9).map(str)
WORDS = st.sampled_from(["1 + 2", '"p, q"', "'c'", "u-1", '""', "v", "1 -2", "8(sp)"])
DEFAULTS = NUMBERS | st.just('"d e"')
VARIABLE = "n"  # a symbol that every program sets


@st.composite
def value(draw: st.DrawFn, parameters: tuple[str, ...]) -> str:
    """Draw an expression of numbers, the variable, and parameters whose arguments are numbers."""
    atoms = [NUMBERS, st.just(VARIABLE)]
    if parameters:
        atoms.append(st.sampled_from([f"(\\{name}+0)" for name in parameters]))
    first, second = draw(st.one_of(atoms)), draw(st.one_of(atoms))
    return f"{first} {draw(st.sampled_from('+-*&|'))} {second}"


@st.composite
def call(draw: st.DrawFn, name: str, parameters: tuple[str, ...], numbers: bool) -> str:
    """Draw a call of a macro with arguments by position and by name."""
    kind = NUMBERS if numbers else NUMBERS | WORDS
    count = draw(st.integers(0, len(parameters)))
    items = [draw(kind) for _ in range(count)]
    for other in draw(st.permutations(parameters[count:])):
        if draw(st.booleans()):
            items.append(f"{other}{draw(st.sampled_from(['=', ' = ']))}{draw(kind)}")
    return f"{name} " + draw(st.sampled_from([", ", ",", " , "])).join(items)


@st.composite
def block(
    draw: st.DrawFn, depth: int, parameters: tuple[str, ...], macros: tuple[str, ...]
) -> list[str]:
    """Draw lines that may use `parameters` and call `macros`, which take one number each."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 3))):
        kind = draw(st.integers(0, 8 if depth else 3))
        if kind == 0:
            lines.append(f".dword {draw(value(parameters))}")
        elif kind == 1:
            shown = "|".join(f"\\{name}" for name in parameters) + draw(
                st.sampled_from(["", "\\()-", "-"])
            )
            lines.append(f'.ascii "{shown}"' if parameters else ".byte 1")
        elif kind == 2:
            lines.append(f".set {VARIABLE}, ({draw(value(parameters))}) & 7")
        elif kind == 3:
            number = draw(value(parameters)).replace(" ", "")
            lines += [f'{name} "({number})"' for name in macros[:1]] or [".byte 2"]
        elif kind == 4:
            lines += [
                f".rept ({draw(value(parameters))}) & 3",
                *draw(block(depth - 1, parameters, macros)),
                ".endr",
            ]
        elif kind == 5:
            name = draw(st.sampled_from(["i", "j"]))
            values = ", ".join(draw(st.lists(NUMBERS, min_size=1, max_size=3)))
            lines += [
                f".irp {name}, {values}",
                *draw(block(depth - 1, (*parameters, name), macros)),
                ".endr",
            ]
        elif kind == 6:
            digits = draw(st.text("0123456789", min_size=1, max_size=3))
            lines += [
                f".irpc d, {digits}",
                *draw(block(depth - 1, (*parameters, "d"), macros)),
                ".endr",
            ]
        else:
            word = draw(st.sampled_from("if ifeq ifne ifgt ifge iflt ifle".split()))
            lines += [
                f".{word} {draw(value(parameters))}",
                *draw(block(depth - 1, parameters, macros)),
            ]
            if draw(st.booleans()):
                lines += [
                    f".elseif {draw(value(parameters))}",
                    *draw(block(depth - 1, parameters, macros)),
                ]
            lines += (
                [".else", *draw(block(depth - 1, parameters, macros))]
                if draw(st.booleans())
                else []
            )
            lines.append(".endif")
    return lines


@st.composite
def program(draw: st.DrawFn) -> str:
    """Draw a source with macros that take texts or numbers, and lines that call them."""
    lines = [".data", "begin:", f".set {VARIABLE}, {draw(st.integers(0, 7))}"]
    numeric: list[str] = []
    for place in range(draw(st.integers(0, 2))):
        name = f"number{place}"
        exit_line = [".if \\a & 1", ".exitm", ".endif"] if draw(st.booleans()) else []
        body = draw(block(1, ("a",), tuple(reversed(numeric))))
        lines += [f".macro {name} a", *body, *exit_line, ".byte \\@", ".endm"]
        numeric.append(name)
    for place in range(draw(st.integers(0, 2))):
        parameters = NAMES[: draw(st.integers(1, 3))]
        defaults = [
            f"{name}={draw(DEFAULTS)}" if draw(st.booleans()) else name for name in parameters
        ]
        name = f"text{place}"
        shown = "|".join(f"\\{parameter}" for parameter in parameters)
        lines += [f".macro {name} {', '.join(defaults)}", f'.ascii "[{shown}]"']
        lines += [f".ifb \\{parameters[0]}", ".byte 9", ".endif"]
        lines += [f".ifc \\{parameters[0]},\\{parameters[-1]}", ".byte 8", ".endif", ".endm"]
        for _ in range(draw(st.integers(1, 4))):
            lines.append(draw(call(name, parameters, False)))
    lines += draw(block(2, (), tuple(reversed(numeric))))
    return "\n".join(lines) + "\n"


SET = ("p", "q", "r")  # symbols that are set several times
LABELS = ("here", "there")


def has_late_alias(text: str) -> bool:
    """Whether a symbol is set to the name of a symbol that depends on a later label.

    GNU as gives the first symbol the value 0 (docs/language.md).
    """
    placed: set[str] = set()
    late: set[str] = set()
    for line in text.split("\n"):
        if label := re.match(r"(\w+):", line):
            placed.add(label[1])
        elif assignment := re.match(r"(?:\.set (\w+),|(\w+) =) (\w+)( - begin)?", line):
            name, value = assignment[1] or assignment[2], assignment[3]
            if value in late:
                return True
            is_late = assignment[4] is not None and value not in placed
            late = late | {name} if is_late else late - {name}
    return False


@st.composite
def resetting(draw: st.DrawFn) -> str:
    """Draw a source that names symbols before, between and after the lines that set them.

    The value of a symbol uses only numbers and the symbols after it in `SET`, so that no symbol
    depends on itself.
    """

    def worth(names: tuple[str, ...]) -> str:
        terms = [NUMBERS, *([st.sampled_from(names)] * 2 if names else [])]
        first, second = draw(st.one_of(terms)), draw(NUMBERS)
        return draw(st.sampled_from([first, f"{first} + {second}", f"{second} * {first}"]))

    lines = [".data", "begin:", f".set {SET[-1]}, 5" if draw(st.booleans()) else ".byte 1"]
    for _ in range(draw(st.integers(2, 12))):
        if draw(st.booleans()):
            lines.append(f".dword {worth(SET)}")
        else:
            place = draw(st.integers(0, len(SET) - 1))
            word = draw(st.sampled_from([f".set {SET[place]},", f"{SET[place]} ="]))
            names = SET[place + 1 :]
            label = draw(st.sampled_from(LABELS))
            either = worth(names) if draw(st.integers(0, 3)) else f"{label} - begin"
            lines.append(f"{word} {either}")
    for place, label in enumerate(LABELS):
        lines.insert(draw(st.integers(2, len(lines))), f"{label}: .byte {place}")
    return "\n".join([*lines, *(f"{name} = {place}" for place, name in enumerate(SET)), ""])
