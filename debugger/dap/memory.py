"""Bytes of memory and instructions, in the form in which an editor requests them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from macaw.debugger.commands.code import Row, around
from macaw.debugger.commands.line import CommandError
from macaw.debugger.dap.arguments import MOST, address, flag, text, whole
from macaw.debugger.dap.connection import RequestError
from macaw.debugger.dap.threads import source_record
from macaw.debugger.stops import SessionError

if TYPE_CHECKING:
    from macaw.debugger.session import Session

MOST_BYTES = 1 << 20  # the greatest number of bytes that one request reads or writes
MOST_INSTRUCTIONS = 10_000
WORD = 4  # bytes between the addresses of instructions that do not exist


def read_memory(session: Session, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the requested bytes in base 64; bytes past the end of a memory are unreadable."""
    place = _place(arguments)
    count = whole(arguments, "count", most=MOST_BYTES)
    session.device.sync()
    try:
        data = session.read_memory_part(place, count)
    except SessionError:
        return {"address": f"{place:#010x}", "unreadableBytes": count}
    record = {"address": f"{place:#010x}", "data": base64.b64encode(data).decode()}
    return record if len(data) == count else {**record, "unreadableBytes": count - len(data)}


def write_memory(session: Session, arguments: Mapping[str, Any]) -> tuple[int, int]:
    """Replace bytes of memory; return (address, number of bytes). Raises `RequestError`.

    With `allowPartial`, the bytes past the end of a memory are left out.
    """
    place = _place(arguments)
    try:
        data = base64.b64decode(text(arguments, "data"), validate=True)
    except (binascii.Error, ValueError):
        raise RequestError("data is not base 64") from None
    try:
        if data and flag(arguments, "allowPartial"):
            data = data[: len(session.read_memory_part(place, len(data)))]
        if data:
            session.write_memory(place, data)
    except SessionError as error:
        raise RequestError(str(error)) from None
    return place, len(data)


def _place(arguments: Mapping[str, Any]) -> int:
    """Return the address in a request: memory reference plus offset. Raises `RequestError`."""
    place = address(arguments, "memoryReference") + whole(arguments, "offset", 0, -MOST)
    if not 0 <= place < 1 << 32:
        raise RequestError(f"{place:#x} is no address of 32 bits")
    return place


def disassemble(session: Session, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the requested number of instructions around an address.

    Where the program has no instruction, the result has an instruction that is marked as invalid.
    """
    place = _place(arguments)
    count = whole(arguments, "instructionCount", most=MOST_INSTRUCTIONS)
    offset = whole(arguments, "instructionOffset", 0, -MOST_INSTRUCTIONS, MOST_INSTRUCTIONS)
    try:
        rows = around(session, place, max(0, -offset), max(1, count + offset))
    except CommandError:
        rows = []
    here = next((at for at, row in enumerate(rows) if row.address <= place < row.next), 0)
    instructions = []
    for index in range(here + offset, here + offset + count):
        if 0 <= index < len(rows):
            instructions.append(_instruction(session, rows[index]))
        else:
            start = rows[here].address if rows else place
            missing = (start + WORD * (index - here)) % (1 << 32)
            if index >= len(rows) > 0:
                missing = rows[-1].next + WORD * (index - len(rows))
            instructions.append({"address": f"{missing:#010x}", "presentationHint": "invalid",
                                 "instruction": "(not of the program)"})  # fmt: skip
    return {"instructions": instructions}


def _instruction(session: Session, row: Row) -> dict[str, Any]:
    record: dict[str, Any] = {"address": f"{row.address:#010x}", "instruction": row.text}
    with suppress(SessionError):  # packets are in a memory that only their core sees
        data = session.read_memory(row.address, row.next - row.address)
        record["instructionBytes"] = data.hex(" ")
    symbol = row.where.partition("<")[2].rstrip(">")
    if symbol:
        record["symbol"] = symbol
    if row.line is not None:
        record |= {"location": source_record(row.line[0]), "line": row.line[1]}
    return record
