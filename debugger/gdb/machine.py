"""Reads and changes registers and memory of a session, in gdb's numbering and encoding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.debugger.gdb.description import (
    PC_NUMBER,
    GdbRegister,
    gdb_registers,
    is_thread,
    memory_map_xml,
    target_xml,
    threads_xml,
)
from macaw.debugger.stops import ENDS, SessionError

if TYPE_CHECKING:
    from macaw.debugger.session import Session
    from macaw.emu.core import Core


class Machine:
    """The device of a session as gdb sees it: threads, registers, memory.

    The number of a thread is the number of its core plus 1.
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.registers = gdb_registers(session.device)

    # Threads

    def threads(self) -> list[int]:
        """Return the numbers of the threads: one for each running core.

        If no core runs, the list has only the thread of the last stop.
        """
        cores = self.session.device.cores
        running = [cores[name] for name in self.session.threads if is_thread(cores[name])]
        return [core.number + 1 for core in running] or [self.stopped_thread()]

    def stopped_thread(self) -> int:
        """Return the number of the thread of the last stop.

        If the core of that stop has no thread, or has not started, return the first running thread.
        """
        where, device = self.session.last_stop.where, self.session.device
        cores = [core for core in device.order if is_thread(core)]
        if where is not None and where.address is not None:
            cores = [core for core in cores if core.name == where.core] + cores
        running = [core for core in cores if core.running or self._ended_at(core) is not None]
        return (running or cores)[0].number + 1

    def _ended_at(self, core: Core) -> int | None:
        """Return the address of the instruction with which a core ended the program, or None."""
        stop = self.session.last_stop
        is_end = stop.where is not None and stop.where.core == core.name and stop.reason in ENDS
        return stop.where.address if is_end and stop.where is not None else None

    def name(self, thread: int) -> str:
        """Return the name of a thread's core. Raises `SessionError`."""
        for core in self.session.device.order:
            if core.number + 1 == thread and is_thread(core):
                return core.name
        raise SessionError(f"there is no thread {thread}")

    def thread(self, name: str) -> int | None:
        """Return the number of a core's thread, or None for a core without general registers."""
        core = self.session.device.cores.get(name)
        return None if core is None or not is_thread(core) else core.number + 1

    def doing(self, thread: int) -> str:
        """Return a text that says what a thread is doing, for `info threads`."""
        core = self.session.device.cores[self.name(thread)]
        if not core.running:
            return f"{core.table.title}, idle"
        for wait in self.session.waits():
            if wait.core == core.name:
                return f"{core.table.title}, waits for {wait.on} since cycle {wait.since:,}"
        return core.table.title

    # Registers

    def read_register(self, thread: int, number: int) -> str:
        """Return the value of register `number` of a thread as hexadecimal bytes.

        If the thread's core does not have the register, each digit is `x`. Raises `SessionError`
        for a number that no register has.
        """
        row = self._register(number)
        value = self._value(thread, row)
        size = row.bits // 8
        return "x" * 2 * size if value is None else value.to_bytes(size, "little").hex()

    def _register(self, number: int) -> GdbRegister:
        if number not in self.registers:
            raise SessionError(f"there is no register {number}")
        return self.registers[number]

    def _value(self, thread: int, row: GdbRegister) -> int | None:
        name = self.name(thread)
        core = self.session.device.cores[name]
        if row.number == PC_NUMBER and core.next_address is None:
            return self._ended_at(core)
        files = {file.name for file in core.table.files}
        if row.file == "csr" and all(x.address != row.place for x in core.table.specials):
            return None
        if row.file not in (*files, "csr", "pc"):
            return None
        return self.session.read_register(name, row.file, row.place)

    def general_registers(self, thread: int) -> str:
        """Return the values of a thread's general registers and pc as hexadecimal bytes."""
        return "".join(self.read_register(thread, number) for number in range(PC_NUMBER + 1))

    def write_register(self, thread: int, number: int, data: bytes) -> None:
        """Set register `number` of a thread to `data`, unless it already has this value.

        The lowest byte of `data` is the first. Raises `SessionError`.
        """
        row = self._register(number)
        bits = int.from_bytes(data, "little")
        if len(data) != row.bits // 8:
            raise SessionError(f"{row.name} has {row.bits // 8} bytes, not {len(data)}")
        if self._value(thread, row) != bits and row.name != "zero":
            self.session.write_register(self.name(thread), row.file, row.place, bits)

    # Memory

    def read_memory(self, address: int, size: int) -> bytes:
        """Return the `size` bytes at `address`; fewer bytes if the memory ends before.

        Raises `SessionError`.
        """
        return self.session.read_memory_part(address, size)

    # XML

    def document(self, kind: str, annex: str) -> str | None:
        """Return the XML document that gdb requests by `qXfer:KIND:read:ANNEX`; None if unknown.

        The kinds are "features" (with the annex "target.xml"), "threads" and "memory-map" (with an
        empty annex).
        """
        device = self.session.device
        if (kind, annex) == ("features", "target.xml"):
            return target_xml(device)
        if (kind, annex) == ("threads", ""):
            rows = [(x, self.name(x), self.doing(x)) for x in self.threads()]
            return threads_xml(rows)
        if (kind, annex) == ("memory-map", ""):
            return memory_map_xml(device)
        return None
