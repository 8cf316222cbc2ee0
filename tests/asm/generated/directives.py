"""Random sources of directives: data, alignment, sections, symbols, tensors, and their mistakes."""

from __future__ import annotations

from random import Random

from macaw.asm.program import DTYPE_SIZES

BITS = {".byte": 8, ".half": 16, ".2byte": 16, ".word": 32, ".4byte": 32, ".dword": 64, ".quad": 64}
FLOATS = (
    "0", "-0.0", "1", "-1.5", "0.1", "1e-3", "65504", "65519", "65520", "1e38", "3.4028235e38", "3.4028236e38", "1e39",
    "1e-45", "1e-46", "6e-8", "2e-8", "1e308", "1e309", "inf", "-inf", "nan", "0x1p3", "1e", "1..2", "infinity", "nann", "1.0f", "1_0.0",
)  # fmt: skip
STRINGS = (
    '""', '"a"', '"a\\n\\t\\\\\\""', '"\\x41\\x4"', '"\\101\\0"', '"\\q"', '"no end', "'a'", '"é€"', '"a" "b"', '"a", "b"', "a", '"\\', '"\\x"', '"\\777"', "1",
)  # fmt: skip


def integer_source(seed: str) -> tuple[str, list[tuple[str, int]]]:
    """A source with one number in each line, near the bounds of its directive; and the numbers."""
    random = Random(seed)
    pairs = []
    for _ in range(40):
        name = random.choice(tuple(BITS))
        top = 1 << BITS[name]
        values = [0, 1, -1, top - 1, top, top + 1, -top // 2, -top // 2 - 1, top // 2, top // 2 - 1]
        # An expression has 64 bits, in which less than the least number of .dword is another number.
        pairs.append((name, max(random.choice(values), -(1 << 63))))
    return "".join(f"{name} {value}\n" for name, value in pairs), pairs


def leb128(value: int, is_signed: bool) -> bytes:
    """The groups of 7 bits of a number, the lowest first, as the DWARF standard stores them."""
    data = bytearray()
    while True:
        low, value = value & 0x7F, value >> 7
        done = value in (0, -1) and bool(low & 0x40) == (value < 0) if is_signed else value == 0
        data.append(low if done else low | 0x80)
        if done:
            return bytes(data)


def count(random: Random) -> str:
    return random.choice(
        (
            "0",
            "1",
            "2",
            "3",
            "4",
            "7",
            "8",
            "16",
            "-1",
            "early",
            "late",
            "65536",
            "65537",
            "0x100000000",
            "there - here",
            '"a"',
            "",
        )
    )


def data_line(random: Random) -> str:
    """A line of data or alignment."""
    kind = random.randrange(13)
    if kind == 0:
        name = random.choice((".float16", ".bfloat16", ".float", ".single", ".double"))
        return f"{name} {', '.join(random.choice(FLOATS) for _ in range(random.randint(1, 3)))}"
    if kind == 1:
        return f"{random.choice(('.ascii', '.asciz', '.string'))} {random.choice(STRINGS)}"
    if kind == 2:
        return f"{random.choice(('.space', '.skip', '.zero'))} {count(random)}" + random.choice(
            ("", "", ", 1", ", 255", ", 256", ", -129", ",")
        )
    if kind == 3:
        size = random.choice(("", ", 0", ", 1", ", 2", ", 3", ", 4", ", 5", ", 8", ", 9", ", -1"))
        value = (
            random.choice(("", ", 0", ", -1", ", 0x12345678", ", 0x123456789", ", 256", ", late"))
            if size
            else ""
        )
        return f".fill {random.choice(('0', '1', '3', '-1', 'early', 'late'))}{size}{value}"
    if kind == 4:
        value = random.choice(
            (
                "0",
                "1",
                "63",
                "64",
                "127",
                "128",
                "16383",
                "16384",
                "-1",
                "-64",
                "-65",
                "0x100000000",
                "1 << 63",
                "late",
            )
        )
        return f"{random.choice(('.uleb128', '.sleb128'))} {value}"
    if kind in (5, 6):
        word = random.choice((".align", ".p2align", ".balign"))
        first = random.choice(
            (
                "0",
                "1",
                "2",
                "3",
                "4",
                "8",
                "16",
                "17",
                "64",
                "65536",
                "131072",
                "-1",
                "early",
                "late",
                "",
            )
        )
        return (
            word
            + f" {first}"
            + random.choice(
                ("", "", ", 0xff", ", 256", ", , 1", ", 0, 3", ", 1, 0", ", 0, -1", ", 0, 1, 2")
            )
        )
    if kind == 7:
        return f".org {count(random)}" + random.choice(("", ", 0xff", ", 256"))
    if kind == 8:
        return f".octa {random.choice(('0', '-1', '1 << 127', '0x' + 'f' * 32, '0x1' + '0' * 32, 'here'))}"
    if kind == 9:
        name, bits = random.choice(tuple(BITS.items()))
        numbers = [
            str(random.choice((0, -1, (1 << bits) - 1, 1 << bits)))
            for _ in range(random.choice((0, 1, 2, 3)))
        ]
        return f"{name} {', '.join(numbers)}{random.choice(('', '', '', ','))}"
    if kind == 10:
        return f"{name_of(random)}: .array {random.choice((*DTYPE_SIZES, 'int9', 'float'))}{dimensions(random)}"
    if kind == 11:
        return f".view {name_of(random)}, {random.choice((*DTYPE_SIZES, 'uint'))}{dimensions(random)}, at={random.choice(('here', 'there', 'here + 1', 'late', '0', 'nosuch', 'y[1]'))}"
    return random.choice((".byt 1", ".words 2", ".asci \"a\"", ".byte", ".spce 4", "byte 1", ".incbin \"none\"", ".incbin \"a.bin\", 1, 2", ".incbin \"a.bin\", 9", ".incbin \"a.bin\", 0, 9", ".npy \"a.npy\"", ".npy \"a.npy\"[1]", ".npy \"a.npy\"[0:9]", ".npy \"b.npy\""))  # fmt: skip


def name_of(random: Random) -> str:
    return random.choice(("a", "b", "c", "here", "early", "x", "a0", "1"))


def dimensions(random: Random) -> str:
    return "".join(
        f", {random.choice(('1', '2', '3', '8', '0', '-1', 'early', 'late', '65536', 'x'))}"
        for _ in range(random.choice((1, 1, 2, 2, 3, 0)))
    )


def data_source(seed: str) -> str:
    """Data in external memory or in the memory of a core."""
    random = Random(seed)
    head = random.choice(
        (".data", ".core cp\nnop", ".core cp\n.section .data.cp", ".core vc\nnop", ".bss")
    )
    lines = [".set early, 3", head, "here: .byte 1"]
    lines += [data_line(random) for _ in range(random.choice((1, 2, 3, 4)))]
    return "\n".join([*lines, "there: .byte 2", ".set late, 2"]) + "\n"


# --- sections ----------------------------------------------------------------------------------

SECTIONS = (
    ".text", ".data", ".rodata", ".bss", ".data.cp", ".text.cp", ".text.hot", ".mine", ".sdata", ".tensors", ".fim.0.bank0.row0", ".debug_x", ".comment", ".note.x", '"my data"', ".dat",
    ".fim.0.bank99.row0", ".fim.0.bank0.row999999",
)  # fmt: skip


def section_line(random: Random) -> str:
    kind = random.randrange(10)
    if kind < 3:
        flags = random.choice(
            (
                "",
                "",
                ', "ax"',
                ', "aw"',
                ', "a"',
                ', ""',
                ', "awx", @progbits',
                ', "aw", @nobits',
                ', "aM", @progbits, 4',
                ', "qq"',
                ', "aT"',
                ', "aw", @bits',
                ", 1",
            )
        )
        return f"{random.choice(('.section', '.section', '.pushsection'))} {random.choice(SECTIONS)}{flags}"
    if kind == 3:
        return random.choice((".popsection", ".previous", ".popsection 1"))
    if kind == 4:
        return f".subsection {random.choice(('0', '1', '2', '-1', '8192', '8193', 'early', 'late', ''))}"
    if kind == 5:
        return f"{random.choice(('.text', '.data', '.bss'))} {random.choice(('', '', '1', '2', '-1', 'x'))}"
    if kind == 6:
        return random.choice(
            (
                ".core cp",
                ".core vc",
                ".core pe, row=0",
                ".core pe, row=9",
                ".core fim, island=0",
                ".core pe",
                ".core nnp",
                ".core cq",
                ".core cp, row=0",
                ".core dma",
            )
        )
    return random.choice(
        (
            f"l{random.randrange(3)}: .byte {random.randrange(9)}",
            ".space 3",
            ".balign 8",
            "nop",
            ".word . - here",
            ".word here",
            ".zero 2",
        )
    )


def section_source(seed: str) -> str:
    """Code and data in changing sections, subsections and parts."""
    random = Random(seed)
    lines = [
        random.choice((".device tiny", ".device base", ".set early, 1", "")),
        random.choice((".core cp", ".data", "")),
    ]
    lines += ["here: .word 1", *(section_line(random) for _ in range(random.randint(3, 7)))]
    return "\n".join([*lines, ".set late, 1"]) + "\n"


# --- symbols -----------------------------------------------------------------------------------

SYMBOLS = ("a", "b", "c", "aa", "A", ".La", "a0", "_start", '"a b"', "1", "main", "x")


def symbol_line(random: Random) -> str:
    name, other = random.choice(SYMBOLS), random.choice(SYMBOLS)
    value = random.choice(
        ("0", "1", "-1", "0x100000000", "b", "c + 1", ". - a", "a - b", "d", "1b", "2f", "late")
    )
    kind = random.randrange(16)
    if kind < 2:
        return f"{name}: .byte {random.randrange(9)}"
    if kind == 2:
        return random.choice((f"{name} = {value}", f"{name} == {value}", f"{name} =", f"= {value}"))
    if kind in (3, 4):
        return f"{random.choice(('.set', '.equ', '.equiv', '.eqv'))} {name}, {value}"
    if kind == 5:
        return f"{random.choice(('.global', '.globl', '.weak', '.local'))} {name}{random.choice(('', f', {other}', ',', ', 5'))}"
    if kind == 6:
        return f".type {name}, {random.choice(('function', '@object', '%notype', 'func', '@function', 'objekt', '1', 'STT_FUNC'))}"
    if kind == 7:
        return (
            f".size {name}, {random.choice(('0', '1', '. - a', '-1', 'late', '0x100000000', ''))}"
        )
    if kind == 8:
        return f"{random.choice(('.comm', '.lcomm'))} {name}, {random.choice(('0', '1', '4', '64', '-1', 'late', '0x7fffffff'))}{random.choice(('', '', ', 4', ', 3', ', 0', ', 65536', ', 131072', ', 1, 1'))}"
    if kind in (9, 10):
        return random.choice(
            ("1: .byte 1", "2:", "1: 1: .byte 1", "10: .byte 3", "1:", "01: .byte 1")
        )
    if kind in (11, 12):
        return f".word {random.choice(('1b', '1f', '2b', '2f', '10b', '3f', '1b - 1f', '1', '01b', '1B'))}"
    return f".word {random.choice((name, f'{name} - {other}', value, f'{name} + 1', f'sizeof({name})', f'{other} * 2'))}"


def symbol_source(seed: str) -> str:
    """Definitions and uses of a few symbols with similar names."""
    random = Random(seed)
    lines = [random.choice((".data", ".core cp\nnop", ".core vc\nnop"))]
    lines += [symbol_line(random) for _ in range(random.randint(3, 7))]
    return "\n".join([*lines, random.choice((".set late, 5", "d: .byte 4", ""))]) + "\n"


# --- tensors and the device --------------------------------------------------------------------

PLACES = (
    "",
    "",
    ", at=unit0",
    ", at=unit1",
    ", at=unit2",
    ", at=unit",
    ", at=island0",
    ", at=island9",
    ", at=netin",
    ", at=netout",
    ", at=netinn",
    ", at=x",
    ", at=",
    ", on=unit0",
)
SETTINGS = ("pe.rows, 1", "pe.clusters, 1", "pe.clusters, 0", "pe.cluster, 1", "name, \"mine\"", "name, 5", "mem.local_bytes, 4096", "mem.external_bytes, 1048576", "nnp.lanes, 3", "pe.rows", "pe.rows, late", "dist.bus_bytes, 8", "mem.banks, 1025", "x, 1")  # fmt: skip


def tensor_line(random: Random) -> str:
    kind = random.randrange(9)
    name = random.choice(("x", "y", "z", "w", "x", "1", "a0"))
    if kind < 5:
        word = random.choice((".input", ".output", ".input", ".output", ".inputs"))
        return f"{word} {name}, {random.choice((*DTYPE_SIZES, 'int8', 'int8', 'float16', 'in8'))}{dimensions(random)}{random.choice(PLACES)}"
    if kind == 5:
        return f".setting {random.choice(SETTINGS)}"
    if kind == 6:
        return f".device {random.choice(('tiny', 'base', 'tinny', 'large', '', '1', 'tiny, base'))}"
    return f".word {random.choice(('x', 'y[1]', 'x[0, 1]', 'x[1:2]', 'sizeof(x)', 'sizeof(y[0])', 'slot(x, 0)', 'load_address(x)', 'x[9]', 'y - x', 'vec(x)', 'tile(x)', 'z[0:1, 0]'))}"


def tensor_source(seed: str) -> str:
    """Declarations of tensors and settings of the device, with uses of the tensors."""
    random = Random(seed)
    lines = [random.choice((".device tiny", ".device base", ".device tiny", "")), ".set early, 2"]
    lines += [tensor_line(random) for _ in range(random.randint(2, 5))]
    lines += random.choice(
        ([], [".core cp", "nop"], [".core pe, row=0"], [".core nnp", "end_chain"])
    )
    return "\n".join([*lines, ".set late, 4"]) + "\n"
