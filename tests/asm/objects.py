"""Builds programs for the disassembler from bytes: code of cp, and a packet list of the array."""

from __future__ import annotations

from macaw.asm.program import Program, Section, Symbol
from macaw.isa import codec, config, pe, registry


def words(*values: int) -> bytes:
    return b"".join(value.to_bytes(4, "little") for value in values)


def cp_program(data: bytes, *symbols: Symbol) -> Program:
    section = Section(".text.cp", "cp", None, 0x10000, 0x10000, data, len(data), 4, "ax")
    return Program(sections=(section,), symbols=symbols, entry=0x10000)


def symbol(name: str, value: int, size: int, *, shared: bool = False, kind: str = "func") -> Symbol:
    return Symbol(name, value, size, ".text.cp", kind, shared)


def sequence(**header: int) -> bytes:
    rows = registry.core("pe").by_mnemonic
    instructions = [
        codec.encode(rows["ld"], {"destination": 1}),
        codec.encode(rows["ld"], {"destination": 0}),
        codec.encode(rows["mac"], {"base": 0, "acc": 1, "balance": 1}),
        codec.encode(rows["spu"], {"function": 0, "src": 1, "dst": 2}),
        codec.encode(rows["st"], {"base": 2}),
    ]
    body = b"".join(word.to_bytes(2, "little") for word in instructions)
    return codec.pack(pe.SEQUENCE, {"count": len(instructions), **header}) + body


def packet(mnemonic: str, clusters: int = 3, segments: int = 0, **values: int) -> bytes:
    row = registry.core("pe").by_mnemonic[mnemonic]
    head = {"command": codec.encode(row, values), "segments": segments, "clusters": clusters}
    return codec.pack(pe.PACKET, head)


def segment(kind: str, offset: int, length: int, mode: int = 0, form: int = 0) -> bytes:
    return codec.pack(
        pe.SEGMENT,
        {
            "type": pe.SEGMENT_TYPES.index(kind),
            "mode": mode,
            "form": form,
            "offset": offset,
            "length": length,
        },
    )


def pe_program(
    header: dict[str, int] | None = None,
    *,
    clusters: int = 3,
    out: dict[str, int] | None = None,
    tail: bytes = b"\1\2\3\4" + bytes(64),
) -> Program:
    """A row of `tiny` with a list (a config, an exe and a marker), a sequence and data."""
    sequence_bytes = sequence(**(header or {}))
    place = 3 * pe.PACKET.size + 3 * pe.SEGMENT.size + pe.OUT.size + 2
    data_at = place + len(sequence_bytes) + -(place + len(sequence_bytes)) % 4
    written = packet("config", ib=4, segments=1)
    written += segment("sequence", place, len(sequence_bytes))
    written += packet("exe", ib=4, last=1, segments=2, clusters=clusters)
    written += segment("weights", data_at, 4, mode=1) + segment("activations", data_at + 4, 64)
    written += codec.pack(
        pe.OUT,
        {"offset": data_at, "count": 1, "step": 4, "stride": 4, "element": 2}
        if out is None
        else out,
    )
    written += packet("trace_begin", g=5)
    written += b"\x20\0" + sequence_bytes
    written += bytes(data_at - len(written)) + tail
    name = registry.core("pe").section.format(0)
    section = Section(name, "pe", 0, 0x10000000, 0x80000000, written, len(written), 4, "a")
    start = section.address
    symbols = (
        Symbol("run", start, place - 1, name, "object", False),
        Symbol("layer", start + place, len(sequence_bytes), name, "object", False),
        Symbol("w", start + data_at, 4, name, "object", False),
        Symbol("buffer", start + data_at + 4, len(tail) - 4, name, "object", False),
    )
    toml = config.load("tiny").to_toml()
    return Program(sections=(section,), symbols=symbols, config_toml=toml, device="tiny")
