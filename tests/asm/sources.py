"""Random sources that follow the cores' tables. The round-trip tests assemble them."""

from __future__ import annotations

from hypothesis import strategies as st

from macaw.isa import pe, registry
from macaw.isa.kinds import Choice, Flag, Immediate, Kind, Letters, Named, Register
from macaw.isa.rows import Instruction

CP = registry.core("cp")
LABELS = ("first", "middle", "last")


def number(kind: Immediate) -> st.SearchStrategy[int]:
    """Draw a number that the operand kind accepts, its bounds more often than others."""
    step = kind.step
    low, high = -(-kind.low // step), kind.high // step
    return (st.sampled_from([low, high]) | st.integers(low, high)).map(lambda x: x * step)


def operand(kind: Kind) -> st.SearchStrategy[str]:
    """Draw the text of an operand of this kind; empty for a flag that is not set."""
    if isinstance(kind, Register):
        return st.sampled_from([name for names in kind.names for name in names])
    if isinstance(kind, Choice):
        return st.sampled_from(kind.words())
    if isinstance(kind, Flag):
        return st.sampled_from(["", kind.word])
    if isinstance(kind, Letters):
        return st.integers(0, (1 << len(kind.letters)) - 1).map(kind.format)
    if isinstance(kind, Named):
        names = st.sampled_from(kind.words()) if kind.words() else st.nothing()
        return names | number(kind).map(hex)
    assert isinstance(kind, Immediate)
    if kind.relative:
        labels: st.SearchStrategy[str] = st.sampled_from(LABELS)
        return labels | number(kind).map(lambda x: f". + {x}")
    return number(kind).map(str)


@st.composite
def instruction(draw: st.DrawFn, row: Instruction) -> str:
    """Draw a line with this instruction and all its operands."""
    texts: list[str] = []
    for item in row.operands:
        text = draw(operand(item.kind))
        if item.inside:
            texts[-1] += f"({text})"
        elif text:
            texts.append(f"{item.name}={text}" if item.named else text)
    return f"{row.mnemonic} {', '.join(texts)}".rstrip()


def data_line() -> st.SearchStrategy[str]:
    """Draw a data directive."""
    byte = st.integers(0, 255)
    return st.one_of(
        st.lists(byte, min_size=1, max_size=20).map(lambda x: ".byte " + ", ".join(map(str, x))),
        st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=4).map(
            lambda x: ".word " + ", ".join(map(hex, x))
        ),
        st.integers(0, 40).map(lambda x: f".space {x}"),
        st.sampled_from(
            ['.asciz "text"', '.asciz "a\\tb\\\\\\"c\\n"', '.ascii "xyz"', '.asciz ""']
        ),
    )


def block() -> st.SearchStrategy[list[str]]:
    """Draw data directives; the caller adds labels."""
    return st.lists(data_line(), max_size=5)


@st.composite
def cp_source(draw: st.DrawFn) -> str:
    """Draw a cp part: code with labels, words that are no instructions, data, numbers, tensors."""
    lines = ["        .device tiny"]
    for name in draw(st.sampled_from([(), ("x",), ("x", "y")])):
        direction, dtype = draw(st.sampled_from([("input", "int8"), ("output", "int32")]))
        lines.append(f".{direction} {name}, {dtype}, {draw(st.integers(1, 70))}")
    lines.append(".core cp")
    rows = draw(st.lists(st.sampled_from(CP.instructions), max_size=12))
    body = [draw(instruction(row)) for row in rows]
    body += [f".word {word:#x}" for word in draw(st.lists(st.integers(0, 2**32 - 1), max_size=2))]
    if draw(st.booleans()):
        body.append(draw(data_line()) + "\n.balign 2")  # the next line may begin between words
    body = draw(st.permutations(body))
    for name in LABELS:
        body.insert(draw(st.integers(0, len(body))), f"{name}:")
    if not rows:
        body.append("nop")
    for name in draw(st.sets(st.sampled_from(LABELS))):
        lines.append(f".global {name}")
    if draw(st.booleans()):
        lines.append(f".set N, {draw(st.integers(-5, 5))}")
    if draw(st.booleans()):
        lines.append(".type first, function")
    lines += body
    for section in draw(st.lists(st.sampled_from([".data", ".data.cp"]), unique=True)):
        lines.append(f".section {section}")
        lines += [f".balign {draw(st.sampled_from([1, 2, 8, 64]))}"] if draw(st.booleans()) else []
        for place, line in enumerate(draw(block())):
            mark = f"{section[1:].replace('.', '_')}{place}: " if draw(st.booleans()) else ""
            lines.append(mark + line)
    return "\n".join(lines) + "\n"


# --- pe ----------------------------------------------------------------------------------

CLUSTERS = 2  # of tiny
SEQUENCE_ROWS = [row for row in pe.CORE.instructions if row.family == "sequence"]


@st.composite
def sequence(draw: st.DrawFn, name: str) -> list[str]:
    """Draw a sequence with any header that the directives allow."""
    words = [f".seq {name}", f"state={draw(st.sampled_from(pe.STATES))}"]
    pipeline = draw(st.sampled_from([2, 4]))
    words.append(f"pipeline={pipeline}")
    words.append(f"activation={draw(st.sampled_from(pe.ACTIVATIONS))}")
    words.append(f"reduction={draw(st.sampled_from(pe.REDUCTIONS))}")
    words.append(f"shift={draw(st.integers(0, 63))}")
    if draw(st.booleans()):
        words += [f"window={draw(st.integers(0, 99))}", f"pop={draw(st.integers(0, 9))}"]
    lines = [", ".join(words)]
    rows = draw(st.lists(st.sampled_from(SEQUENCE_ROWS), min_size=1, max_size=6))
    if draw(st.booleans()):
        inner, outer = draw(st.tuples(st.integers(1, 65535), st.integers(1, 3)))
        lines.append(f".loop inner={inner}, outer={outer}")
    if pipeline == 4 and draw(st.booleans()):
        row = draw(st.sampled_from(rows))
        count = sum(item is row for item in rows)
        steps = {"mac": ("base", "acc"), "ld": ("base",), "st": ("base",), "spu": ("src", "dst")}
        where = f"{row.mnemonic}[{draw(st.integers(0, count - 1))}]"
        inner, outer = draw(st.tuples(st.integers(-3, 3), st.integers(-32768, 32767)))
        what = draw(st.sampled_from(steps[row.mnemonic]))
        lines.append(f".step {where}.{what}, inner={inner}, outer={outer}")
    if draw(st.booleans()):
        place = draw(st.integers(1, len(lines)))
        types = f"requantise={draw(st.sampled_from(pe.REQUANTISE))}"
        types += draw(st.sampled_from(["", ", weights=int8", ", activations=default"]))
        lines.insert(place, f".types {types}")
    if draw(st.booleans()):
        lines.append(f".then ib={draw(st.integers(0, 31))}")
    lines += [draw(instruction(row)) for row in rows]
    return [*lines, ".endseq"]


@st.composite
def config_data(draw: st.DrawFn, sequence: str) -> str:
    """Draw the operand `data=` that the config of a sequence needs."""
    segments = []
    if "requantise=scale" in sequence:
        low, size = draw(st.tuples(st.integers(0, 2000), st.integers(0, 2000)))
        segments.append(f"scales unit[{low}:{low + size}] {draw(st.sampled_from(pe.MODES))}")
    if "activation=table" in sequence:
        segments.append(f"table unit[{draw(st.integers(0, 2000))}:2256] broadcast")
    text = ", ".join(draw(st.permutations(segments)))
    return f", data=({text})" if text else ""


@st.composite
def packet(draw: st.DrawFn, sequences: tuple[str, ...], data: tuple[str, ...]) -> str:
    """Draw a packet: a config of one of `sequences` (texts), an exe with its data, or a marker."""
    to = draw(st.sampled_from(["", ", to=all", ", to=0", ", to=1", ", to=(0, 1)"]))
    kind = draw(st.integers(0, 2))
    if kind == 0 and sequences:
        text = draw(st.sampled_from(sequences))
        name = text.removeprefix(".seq ").partition(",")[0]
        return f"config ib={draw(st.integers(0, 31))}, {name}{draw(config_data(text))}{to}"
    if kind == 1:
        return f"{draw(st.sampled_from(['trace_begin', 'trace_end']))} {draw(st.integers(0, 31))}"
    flags = "".join(draw(st.sampled_from(["", f", {word}"])) for word in ("shift", "last"))
    text = f"exe ib={draw(st.integers(0, 31))}{flags}"
    segments = []
    for _ in range(draw(st.integers(0, 3))):
        if draw(st.booleans()) and data:  # broadcast, because slices would have to divide the data
            segments.append(f"activations {draw(st.sampled_from(data))} broadcast")
            continue
        what = draw(st.sampled_from(["weights", "activations", "psums"]))
        low, size = draw(st.tuples(st.integers(0, 2000), st.integers(0, 2000)))
        mode = draw(st.sampled_from(pe.MODES))
        form = draw(st.sampled_from(["", " compress", " dense"])) if what == "weights" else ""
        element = draw(st.sampled_from(["", " int8"])) if what != "psums" else ""
        segments.append(f"{what} unit[{low}:{low + size}] {mode}{form}{element}")
    text += f", data=({', '.join(segments)})" if segments else ""
    if draw(st.booleans()):
        text += (
            f", out=(unit[{draw(st.integers(0, 4000))}], stride={draw(st.integers(0, 64))},"
            f" step={draw(st.integers(0, 64))}, count={draw(st.integers(1, 16))},"
            f" pes={draw(st.integers(0, 8))}, type={draw(st.sampled_from(pe.ELEMENTS))})"
        )
    return text + to


@st.composite
def pe_source(draw: st.DrawFn) -> str:
    """Draw pe parts (lists, sequences, data, tensors), with the default cp or another one."""
    lines = ["        .device tiny"]
    tensors = ("x",)[: draw(st.integers(0, 1))]
    for name in tensors:
        home = draw(st.sampled_from(["", ", at=unit0", ", at=unit1"]))
        lines.append(f".input {name}, int8, {draw(st.integers(1, 70))}{home}")
    for row in draw(st.lists(st.integers(0, 1), min_size=1, max_size=2, unique=True)):
        lines.append(f".core pe, row={row}")
        names = tuple(f"seq{row}{i}" for i in range(draw(st.integers(0, 2))))
        parts = [draw(sequence(name)) for name in names]
        data = tuple(f"data{row}{i}" for i in range(draw(st.integers(0, 2))))
        parts += [[f"{name}: .byte 1", draw(data_line())] for name in data]
        texts = tuple("\n".join(part) for part in parts[: len(names)])
        packets = st.lists(packet(texts, (*data, *tensors)), max_size=4)
        if draw(st.booleans()):
            for place in range(draw(st.integers(0, 2))):
                parts.append([f".list list{row}{place}", *draw(packets), ".endlist"])
        else:
            parts += [[line] for line in draw(packets)]
        for part in draw(st.permutations(parts)):
            lines += part
    if draw(st.booleans()):
        lines += [".core cp", "_start: nop"]
    return "\n".join(lines) + "\n"
