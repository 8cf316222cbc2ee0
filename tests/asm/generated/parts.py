"""Random parts of pe, fim, nnp and vc: mostly correct, with numbers at their bounds and mistakes."""

from __future__ import annotations

from random import Random

from macaw.isa import fim_circuit, pe, registry
from tests.asm.generated.instructions import misspelt


def rare(random: Random, usual: str, *others: str) -> str:
    """The usual text; in one of twelve cases one of the others."""
    return random.choice(others) if others and random.random() < 1 / 12 else usual


def some(random: Random, words: tuple[str, ...] | list[str]) -> str:
    """One of the words; rarely a misspelt one."""
    word = random.choice(words)
    return rare(random, word, misspelt(word, random)) if word else word


# --- pe ----------------------------------------------------------------------------------------


def pe_header(random: Random, name: str) -> str:
    words = [f".seq {name}"]
    options = {
        "state": some(random, pe.STATES),
        "pipeline": random.choice(("1", "2", "3", "4", "4", "5")),
        "activation": some(random, pe.ACTIVATIONS),
        "reduction": some(random, pe.REDUCTIONS),
        "shift": random.choice(("0", "1", "63", "64", "-1")),
        "window": random.choice(("0", "1", "9", "65535", "65536")),
        "pop": random.choice(("0", "1", "3", "256")),
    }
    for key in random.sample(tuple(options), random.choice((0, 1, 2, 3))):
        words.append(f"{rare(random, key, misspelt(key, random))}={options[key]}")
    return ", ".join(words)


def pe_line(random: Random) -> str:
    """A line of a sequence."""
    small = random.choice(
        (
            "0",
            "0",
            "1",
            "2",
            "3",
            "7",
            "8",
            "15",
            "16",
            "2047",
            "4095",
            "65535",
            "65536",
            "-1",
            "early",
        )
    )
    kind = random.randrange(12)
    if kind < 2:
        return f"mac base={small}, acc={random.choice(('0', '1', '7', '8', '15'))}" + random.choice(
            ("", ", balance", ", sfu", ", balance, sfu", ", blance")
        )
    if kind < 5:
        return f"ld {some(random, ('weights', 'activations', 'psums', 'both'))}" + random.choice(
            ("", "", f", base={small}")
        )
    if kind == 5:
        return f"st base={small}"
    if kind < 8:
        words = [
            word for row in pe.CORE.by_mnemonic["spu"].operands[:1] for word in row.kind.words()
        ]
        return f"spu {some(random, words)}" + random.choice(
            ("", f", src={small}", f", src=0, dst={small}")
        )
    if kind == 8:
        return f".loop inner={random.choice(('1', '2', '65535', '65536', '0'))}" + random.choice(
            ("", ", outer=1", ", outer=3", ", outer=0")
        )
    if kind == 9:
        place = random.choice(
            (
                "mac.base",
                "mac.acc",
                "ld[0].base",
                "ld[1].base",
                "st.base",
                "spu.dst",
                "spu[1].src",
                "mac[2].base",
                "mac.bas",
                "mul.base",
                "st[0]",
            )
        )
        return (
            f".step {place}, inner={random.choice(('1', '0', '-3', '32767', '32768'))}"
            + random.choice(("", ", outer=1", ", outer=-32769"))
        )
    if kind == 10:
        return random.choice(
            (
                ".types weights=int8",
                ".types activations=int16",
                ".types requantise=scale",
                ".types requantise=shift",
                ".types weights=default, activations=uint8",
                ".types weights=int9",
                ".types",
            )
        )
    return random.choice(
        (
            ".then ib=1",
            ".then ib=31",
            ".then ib=32",
            ".then 1",
            ".stride mac.base, 1",
            ".stride ld.base, pe=1",
            ".stride st.base, cluster=2, pe=1",
            ".stride mac.acc, pe=0",
            "nop",
            ".endseq",
        )
    )


def segment(random: Random) -> str:
    base = random.choice(
        (
            "x",
            "w",
            "w[0]",
            "w[1]",
            "w[0:2]",
            "x[0]",
            "x[0:2]",
            "data",
            "unit[0:16]",
            "unit[16:8]",
            "unit[0x40:0x60]",
            "y",
            "early",
            "d[0]",
        )
    )
    words = random.choice(
        ("", "", "", "weights ", "activations ", "psums ", "weigths ", "scales ", "table ")
    )
    after = random.choice(
        (
            "",
            "",
            "",
            " sliced",
            " broadcast",
            " by_cluster",
            " by_pe",
            " slice",
            " broadcast dense",
            " sliced records",
            " sliced compress int8",
            " broadcast int16",
        )
    )
    return f"{words}{base}{after}"


def packet(random: Random) -> str:
    ib = random.choice(("0", "0", "0", "1", "31", "32"))
    to = random.choice(
        (
            "",
            "",
            "",
            ", to=all",
            ", to=0",
            ", to=1",
            ", to=2",
            ", to=(0, 1)",
            ", to=(0, 0)",
            ", to=(",
            ", to=al",
        )
    )
    kind = random.randrange(6)
    if kind < 2:
        data = random.choice(
            (
                "",
                "",
                "",
                ", data=(scales data)",
                ", data=(table data)",
                ", data=(scales unit[0:32], table unit[0:256])",
                ", data=w",
            )
        )
        return (
            f"config ib={ib}, {random.choice(('first', 'first', 'second', 'frist', 'w'))}{data}{to}"
        )
    if kind == 2:
        return f"{random.choice(('trace_begin', 'trace_end'))} {random.choice(('0', '3', '31', '32', '-1'))}{to}"
    flags = random.choice((", last", ", last", ", shift", ", shift, last", "", ", lst"))
    data = ", ".join(segment(random) for _ in range(random.choice((0, 1, 2, 2, 2, 3))))
    out = random.choice(
        (
            "",
            ", out=y",
            ", out=y",
            ", out=(y[0:4], pes=4)",
            ", out=(y, stride=28, step=4)",
            ", out=(y, count=0)",
            ", out=(y, pes=9)",
            ", out=(unit[64], type=int8)",
            ", out=(unit[64])",
            ", out=x",
            ", out=(y, type=int9)",
            ", out=(y, strid=4)",
            ", out=(y[0], stride=0x10000)",
            ", out=nosuch",
        )
    )
    return f"exe ib={ib}{flags}{f', data=({data})' if data else ''}{out}{to}"


def pe_source(seed: str) -> str:
    """A part of pe: data, sequences and packets."""
    random = Random(seed)
    lines = [
        ".device tiny",
        f".input x, {random.choice(('int8', 'int8', 'int16', 'float32'))}, {random.choice(('8', '16', '2, 8', '64'))}{random.choice(('', '', ', at=unit0', ', at=unit1'))}",
    ]
    lines += [
        f".output y, {random.choice(('int32', 'int8', 'int16'))}, {random.choice(('8', '9', '16', '4, 4'))}",
        f".core pe, row={rare(random, random.choice('001'), '2', '-1')}",
    ]
    files = ('.sparse "w.npy"', '.dense "w.npy"', '.sparse "w.npy"[0:8]', '.sparse "w.npy", clusters=2', '.sparse "w.npy", clusters=3', '.sparse "a.npy"', '.npy "w.npy"', '.sparse "w.npy", pes=2', '.sparse "nosuch.npy"', ".array int8, 2, 8")  # fmt: skip
    parts = [
        [f"w: {random.choice(files)}"],
        [
            "data: .byte 1, 2, 3, 4",
            random.choice((".balign 8", ".half 1", ".space 12", "d: .array int8, 4, 4")),
        ],
    ]
    for name in ("first", "second")[: random.choice((1, 1, 2))]:
        parts.append(
            [
                pe_header(random, name),
                *(pe_line(random) for _ in range(random.choice((1, 2, 3, 4, 6)))),
                rare(random, ".endseq", "", ".endlist"),
            ]
        )
    packets = [packet(random) for _ in range(random.choice((1, 2, 3)))]
    if random.random() < 0.4:
        packets = [
            f".list {random.choice(('l', 'l', 'w', ''))}",
            *packets,
            rare(random, ".endlist", ""),
        ]
    parts.append(packets)
    for part in parts:
        lines += part
    return "\n".join([*lines, ".set early, 4"]) + "\n"


def good_pe_source(seed: str) -> str:
    """A part of pe that assembles: only correct choices, of which most are at a bound."""
    random = Random(seed)
    lines = [
        ".device tiny",
        f".input x, int8, {random.choice(('8', '16', '64'))}",
        f".output y, {random.choice(('int32', 'int8'))}, 16",
        f".core pe, row={random.choice('01')}",
    ]
    lines += [random.choice(('w: .sparse "w.npy"', 'w: .dense "w.npy"', 'w: .sparse "w.npy"[0:8]'))]
    pipeline = random.choice((2, 4))
    words = [
        f".seq first, pipeline={pipeline}",
        f"state={random.choice([x for x in pe.STATES if x != 'sw'])}",
        f"shift={random.choice((0, 1, 63))}",
    ]
    words.append(f"activation={random.choice([x for x in pe.ACTIVATIONS if x != 'table'])}")
    lines.append(", ".join(words))
    if pipeline == 4:
        lines += [
            f".loop inner={random.choice((1, 2, 65535))}, outer={random.choice((1, 3))}",
            f".step mac.base, inner={random.choice((-32768, 0, 32767))}",
        ]
    if random.random() < 0.3:
        lines.append(f".types weights={random.choice(('int8', 'default'))}, requantise=shift")
    lines += [
        "ld activations",
        "ld weights",
        f"mac base={random.choice((0, 1))}, acc={random.choice((0, 1, 7))}{random.choice(('', ', balance', ', sfu'))}",
        "st base=0",
        ".endseq",
    ]
    ib = random.choice((0, 1, 31))
    lines += [f"config ib={ib}, first{random.choice(('', ', to=0', ', to=(0, 1)'))}"]
    out = random.choice(("y", "(y, pes=8)", "(y, stride=4, step=4, count=2)", "(y[8], pes=4)"))
    lines += [
        f"exe ib={ib}, {random.choice(('last', 'shift', 'shift, last'))}, data=(x, w[0]), out={out}"
    ]
    if random.random() < 0.5:
        lines += [f"trace_end {random.choice((0, 31))}", "l: .byte 1, 2, 3"]
    return "\n".join(lines) + "\n"


# --- fim ---------------------------------------------------------------------------------------


def fim_line(random: Random) -> str:
    kind = random.randrange(14)
    column = random.choice(("0", "1", "31", "32", "0:4", "30:32", "30:33", "4:4", "-1", "early"))
    function = random.choice(("+", "*", "*", "-", "/", "&", "^", "%"))
    if kind == 0:
        return f"act {random.choice(('0', '1', '63', '64', '4095', '4096', 'row0', 'row3', 'row4', '-1'))}{random.choice(('', '', ', inc=1', ', inc=-1', ', inc=4096'))}"
    if kind == 1:
        return random.choice(("pre", "end", "endloop", "endloop", "endall", "pre 1"))
    if kind == 2:
        return f"loop {random.choice(('1', '2', '65535', '65536', '0', 'early'))}"
    if kind in (3, 4, 5):
        names = tuple(item.name for item in fim_circuit.REGISTERS.values())
        value = random.choice(
            (
                "0",
                "1",
                "2",
                "12",
                "15",
                "16",
                "mul",
                "add",
                "dot",
                "tensor",
                "outer",
                "fp16",
                "fp32",
                "fp33",
                "BUFFER",
                "0x40000000",
                "0x40000001",
                "0x80000000",
                "-1",
            )
        )
        return f"mmr {some(random, names)}, {value}"
    if kind == 6:
        return f"fim {random.choice(('0', '1', '2', '6', '9', '10'))}{random.choice(('', f', col={column}', ', repeat=32', ', repeat=33', ', inc=-1, repeat=2'))}"
    if kind == 7:
        return f"{random.choice(('push', 'pull'))} {some(random, ('rop', 'gio', 'rz'))}{random.choice(('', ', buffer=7', ', buffer=8', ', all'))}"
    if kind == 8:
        return f"{random.choice(('lock', 'unlock'))}{random.choice(('', ' buffer=0', ' 7', ' 8'))}"
    if kind == 9:
        return f"rz <- rop {function} iosa[{column}]"
    if kind == 10:
        return f"rz <- {random.choice(('rop', 'iosa[1]', 'gio'))} {function} gio"
    if kind == 11:
        return random.choice(
            (
                "rop <- gio",
                "gio <- rz",
                "rop <- rz",
                "gio <- rop",
                "rop <-",
                "rz <- relu(rop)",
                "rz <- ~iosa[1]",
                "rz <- tanh(rop)",
                "rz <- tan(rop)",
                "iosa[31] <- rz",
                "rop <- rop",
            )
        )
    if kind == 12:
        return f"{random.choice(('gio', 'rop'))} <- iosa[{column}]"
    return random.choice(
        (
            ".block banks=1",
            ".byte 1",
            ".word 0x10",
            "trace_begin 0",
            "nop",
            "block 1",
            "block 0",
            "block 0x10000",
        )
    )


def fim_source(seed: str) -> str:
    """A part of fim with one or two blocks."""
    random = Random(seed)
    lines = [
        f".device {random.choice(('tiny', 'base', 'aim'))}",
        ".set BUFFER, 0x40000400",
        f".core fim, island={rare(random, '0', '1', '9')}",
    ]
    for _ in range(random.choice((1, 1, 2))):
        banks = random.choice(("0", "0-3", "(0-1, 3)", "15", "16", "3-1", "(0, 0)", "", "0-"))
        lines.append(f".block banks={banks}")
        if random.random() < 0.6:
            lines += [f"mmr op, {random.choice(('mul', 'add', 'relu', '0'))}", "act 0"]
        lines += [fim_line(random) for _ in range(random.choice((1, 2, 3, 4)))]
        lines.append(rare(random, "end", ""))
    if random.random() < 0.3:
        lines += [
            f".section .fim.0.bank{random.choice(('0', '3', '4', '16'))}.row{random.choice(('0', '63', '64', '4096'))}",
            random.choice(
                (
                    ".word 1",
                    '.tiles "h.npy", layout=dot, side=a',
                    '.tiles "h.npy", layout=outer, side=b',
                    '.tiles "h.npy", layout=elementwise, side=c',
                    '.tiles "h.npy", layout=tensor, side=a',
                    '.tiles "h.npy", layout=dots, side=a',
                    '.tiles "h.npy", side=d',
                    ".space 1024",
                    ".space 1025",
                )
            ),
        ]
    return "\n".join([*lines, ".set early, 3"]) + "\n"


# --- nnp ---------------------------------------------------------------------------------------


def nnp_line(random: Random) -> str:
    core = registry.core("nnp")
    memories = tuple(item.name for item in core.memories) + tuple(item.name for item in core.queues)
    memory = some(random, memories)
    place = random.choice(
        (
            "0",
            "0",
            "1",
            "4",
            "63",
            "64",
            "255",
            "4095",
            "65535",
            "65536",
            "vec(v)",
            "tile(v)",
            "early",
        )
    )
    kind = random.randrange(11)
    if kind == 0:
        row = random.choice([row for row in core.pseudos if row.mnemonic.startswith("Set")])
        values = ", ".join(
            random.choice(("0", "1", "2", "3", "16", "65535", "65536", "-1")) for _ in row.operands
        )
        return random.choice(
            (f"{row.mnemonic} {values}", f"{row.mnemonic}({values})", f"{row.mnemonic}({values}")
        )
    if kind == 1:
        register = some(random, core.by_mnemonic["s_wr"].operands[0].kind.words())
        return f"s_wr {register}, {random.choice(('1', '2', '65535', '0'))}"
    if kind == 2:
        return f"m_rd {random.choice(('NetInQ', 'Dram', 'MatrixRf'))}{random.choice((f', {place}', ''))}"
    if kind == 3:
        return f"m_wr {random.choice(('MatrixRf', 'Dram', 'NetOutQ'))}, {place}"
    if kind == 4:
        return random.choice(
            (
                "v_relu",
                "v_sigm",
                "v_tanh",
                "v_softmax",
                "end_chain",
                "end_chain()",
                "v_relu 1",
                "v_rel",
            )
        )
    if kind == 5:
        return f"mv_mul{random.choice(('', '_inc'))} {place}{random.choice(('', ', 1'))}"
    if kind == 6:
        names = [row.mnemonic for row in core.instructions if row.mnemonic.startswith("vv_")]
        return f"{random.choice(names)} {random.choice((memory, 'AddSubVrf0', 'MulVrf'))}, {place}{random.choice(('', '', ', 1'))}"
    if kind == 7:
        return f".hint tensor {random.choice(('a', 'b', 'x'))}, {memory}, {place}, {random.choice(('1', '4', '0', '65536'))}, {random.choice(('1', '4', '5', '0'))}"
    if kind == 8:
        return random.choice(
            (
                ".word 0",
                ".word 1",
                ".hint",
                ".hint unroll=4",
                ".hint tensor a",
                "nop",
                "trace_begin 31",
            )
        )
    return f"{random.choice(('v_rd', 'v_wr', 'v_rd_inc'))} {memory}{random.choice((f', {place}', f', {place}', '', f', {place}, 1'))}"


def nnp_source(seed: str) -> str:
    """A part of nnp with chains."""
    random = Random(seed)
    lines = [".device tiny", ".core nnp"]
    for _ in range(random.choice((1, 2))):
        if random.random() < 0.5:
            lines.append(f"SetRowsCols({random.choice('123')}, {random.choice('124')})")
        if random.random() < 0.3:
            lines.append(f"SetIterations({random.choice(('1', '2', '3', '65535'))})")
        middle = [
            random.choice(
                (
                    "v_relu",
                    "vv_add AddSubVrf0, 0",
                    "vv_mul 4",
                    "mv_mul 0",
                    "v_tanh",
                    "vv_max AddSubVrf1, 3",
                )
            )
            for _ in range(random.choice((0, 1, 2, 3)))
        ]
        chain = [
            "v_rd NetInQ",
            *middle,
            f"v_wr {random.choice(('NetOutQ', 'InitialVrf, 0', 'InitialVrf, 63', 'Dram, 5'))}",
        ]
        if random.random() < 0.6:
            chain.insert(random.randrange(len(chain) + 1), nnp_line(random))
        lines += chain
    if random.random() < 0.9:
        lines.append("end_chain")
    return (
        "\n".join([*lines, ".data", random.choice((".byte 1", "")), "v: .zero 64", ".set early, 3"])
        + "\n"
    )
