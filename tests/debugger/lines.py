"""Random command lines from the grammars of the command table, valid or damaged."""

from __future__ import annotations

from hypothesis import strategies as st

from macaw.debugger.commands.table import COMMANDS
from macaw.debugger.commands.usage import pieces
from macaw.debugger.layout import NAMES, PANELS

_DIGITS = "9" * 5000  # more than Python reads
_E = (
    "a0", "s0 == 3", "y", "y[0, 1]", "y[0, 1:]", "y[*]", "y[9]", "cp.pc", "pc", "mem[y].u16", "mem[0]", "mem[-1]",
    "mem[1 << 40]", "sum(pe[*,*].*.macs)", "pe[1,0].3.q1.level", "pe[*,*].*.macs", "fim[0].bank[3].rz.f16", "vc.vr0.u8[2]",
    "vc.x5", "nnp.chain.iteration", "device.cycle", "halves", "text", "loop + 4", "1 / 0", "1 << 70", "1.5", "-1", "'a'",
    "nothing", "(", "sum(", "max(y, 3)", "sum(3)", "$a0", "a0 +", "((((((((1))))))))", "0x", "y + y", "y / 0", "y % 0", "halves + 1e308 * 1e10", "1e308 * 1e10", "y << 99", "y ** 2", "mean(y[0:0])", "max(y[0:0])", "halves * 1e38", "abs(y)", "-halves", "!a0", "-y", "漢", "dma.*", _DIGITS, f"y[{_DIGITS}]",
)  # fmt: skip
_TEXTS = (
    "cp", "a0", "y", "registers", "all", 'loop, "%d %s", s0, a0', 'loop, "%d"', 'loop, "%999999d", s0', 'nowhere, "x"', "run", "print s0; continue",
    "continue; continue", "source points", "delete", "1", "\\", '"', "a  b",
)  # fmt: skip
_NUMBERS = (_DIGITS, "1", "2", "3", "7", "0", "-1", "99", "0x10", "999999", "99999999999999999999", "x", "1.5", "(2)")  # fmt: skip
OPERANDS = {
    "N": _NUMBERS,
    "E": _E,
    "V": _E,
    "LOC": ("loop", "calls.s:12", "12", "double+4", "*0x10000", "*0", "*loop", "nowhere", "calls.s:9999", "x.s:1", "0", "-1", "*99999999999", ":3", _DIGITS, f"calls.s:{_DIGITS}"),
    "PLACES": ("cp", "vc", "dma", "nnp", "fim[0]", "pe[*,*].*", "pe[0,1].2", "pe[9]", "pe", "pe[", "", "*", "cp.3"),
    "CYCLE": ("0", "5", "100", "239", "240", "100000", "99999999999999999999999", "-1", "x", _DIGITS),
    "FILE": ("points", "y.npy", "'a b'", "good.script", "wrong.script", "none/x", "/dev/null", ".", "'", "\0"),
    "EVENT": ("stall", "dma-done", "queue-full", "exe", "fault", "nan", "saturate", "swap", "rain"),
    "NAME": (*PANELS, *NAMES, *COMMANDS, "x"),
    "TEXT": _TEXTS,
    "COMMAND": _TEXTS,
}  # fmt: skip
_SUFFIXES = ("", "", "/x", "/4dw", "/i", "/3i", "/s", "/c", "/f16", "/2tiles", "/k", "/99999999999", f"/{_DIGITS}", "/0", "/d", "/fh", "/u8")  # fmt: skip


def _piece(piece):
    if piece.group:
        found = st.tuples(*map(_piece, piece.group)).map(" ".join)
    elif piece.words:
        found = st.sampled_from(piece.words)
    else:
        found = st.sampled_from(OPERANDS[piece.operand])
    if piece.several:
        found = st.lists(found, min_size=1, max_size=3).map(" ".join)
    return st.just("") | found if piece.optional else found


def _of(row):
    head = st.sampled_from(row.names)
    if row.suffix:
        head = st.tuples(head, st.sampled_from(_SUFFIXES)).map("".join)
    return st.tuples(head, *map(_piece, pieces(row.usage))).map(" ".join)


# `quit` ends what is to go on; shell and python are refused, but not before they are read.
whole = st.one_of([_of(row) for row in COMMANDS.values() if row.name != "quit"])


@st.composite
def damaged(draw):
    """Draw a line with some characters changed, doubled or left out."""
    line = draw(whole)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(line)))
        end = draw(st.integers(at, min(len(line), at + 6)))
        new = draw(st.sampled_from(["", line[at:end] * 2]) | st.text(max_size=3))
        line = line[:at] + new + line[end:]
    return line if not line.strip().startswith(("q", "exit")) else ""


lines = whole | damaged() | st.text(max_size=30).filter(lambda x: not x.strip().startswith("q"))
