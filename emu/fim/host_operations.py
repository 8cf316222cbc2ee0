"""Host operations: operations that another core sends by number, without a program (seed 004 ¶46).

Spare bits of a column command carry the number. The address gives island, row and column; a mask
gives the banks. The circuits' registers determine what operations 6 to 8 compute. The host has set
these registers by stores, or they still have the values that the last block set. Circuits with
equal registers act in lock-step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from macaw.emu.faults import Fault
from macaw.emu.fim import tracing
from macaw.emu.fim.island import Island
from macaw.emu.fim.operations import operate
from macaw.emu.fim.state import HOST, Block
from macaw.emu.waits import NEVER
from macaw.emu.windows import WindowNotReady
from macaw.isa.codec import Decoded
from macaw.isa.fim import CORE
from macaw.isa.fim_circuit import CIRCUIT_PLACES, OPERATIONS, REGISTERS
from macaw.isa.fim_islands import Place

_FIM = next(row for row in CORE.instructions if row.mnemonic == "fim")
# By the name of a circuit's register: its place in the circuit, and its greatest value.
_REGISTERS = {
    REGISTERS[number].name: (place, REGISTERS[number].greatest)
    for number, place in CIRCUIT_PLACES.items()
}


def send(island: Island, number: int, place: Place, mask: int, time: int) -> int:
    """Do operation `number` at `place` in the banks of `mask`; return the cycle of its command.

    The host sent the operation in cycle `time`; its command may come later. If the banks need
    several commands, return the cycle of the last one. Mask 0 selects the bank of `place`. Raises
    `Fault`, and `WindowNotReady` while a block uses one of the banks.
    """
    if number >= len(OPERATIONS):
        raise Fault(
            "bad mask",
            f"operation {number}: circuits have 0 to {len(OPERATIONS) - 1}",
            {"number": number},
        )
    banks = _banks(island, mask) if mask else [place.bank]
    for block in island.blocks:
        shared = set(banks) & set(block.banks)
        if block.running and shared:
            on = f"bank {min(shared)} of {island.name}, which block {block.index} works with"
            raise WindowNotReady(on, 1 << island.number, NEVER)
    operation, command = OPERATIONS[number], time
    column = place.column if operation.has_column else 0
    word = Decoded(_FIM, {"n": number, "col": column, "inc": 0, "repeat": 1})
    for group in _equal_circuits(island, banks):
        block = _block(island, group, time)
        since = block.time
        island.dram.begin(time)
        if operation.has_column:
            _open(island, block, place.row)
        _do(island, block, word)
        if island.listeners:
            island.announce("operated", banks=len(group), since=since, until=block.time)
        command = max(command, block.time - island.divider)
        _update_circuits(island, block)
    return command


def _banks(island: Island, mask: int) -> list[int]:
    count = island.geometry.banks
    if mask >> count:
        number = mask.bit_length() - 1
        raise Fault(
            "bad mask",
            f"the mask {mask:#x} of banks has bit {number} set:"
            f" {island.name} has banks 0 to {count - 1}",
            {"mask": mask},
        )
    return [bank for bank in range(count) if mask >> bank & 1]


def _equal_circuits(island: Island, banks: Sequence[int]) -> Iterator[list[int]]:
    """Yield the banks in lists. The circuits of the banks in a list have equal registers."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for bank in banks:
        groups.setdefault(tuple(island.circuits[bank].registers), []).append(bank)
    yield from groups.values()


def _block(island: Island, banks: list[int], time: int) -> Block:
    """Return a temporary block of these banks for one host operation from cycle `time` on."""
    circuits = [island.circuits[bank] for bank in banks]
    begin = island.aligned(max(time, *(circuit.time for circuit in circuits)))
    return Block(
        HOST,
        banks,
        island.acting_address or 0,
        begin,
        registers=list(circuits[0].registers),
        rz_ready=max(circuit.rz_ready for circuit in circuits),
        alu_free=max(circuit.alu_free for circuit in circuits),
        columns_ready=max(circuit.columns_ready for circuit in circuits),
    )


def _open(island: Island, block: Block, row: int) -> None:
    """Open a row in all banks of a block in which this row is not open yet.

    First close any other row that is open in these banks.
    """
    island.dram.refresh(block.banks, block.time)
    others = [bank for bank in block.banks if island.dram.rows[bank] != row]
    if others:
        at = island.dram.open(others, row, block.time, island.divider, bus=True)
        block.time = at + island.divider
        island.counts["activations"] += len(others)
    # this includes the data that the host has written to memory
    island.data.load_rows(block, block.banks, row)
    block.row = row


def _do(island: Island, block: Block, word: Decoded) -> None:
    if island.tracing or island.listeners:
        tracing.flush_tally(island)
        island.tally_block, island.is_single = None, False
        tracing.do_word(island, block, word, operate, NEVER)
    else:
        operate(island, block, word.values, NEVER)


def _update_circuits(island: Island, block: Block) -> None:
    """Copy times and registers from the temporary block of a host operation to its circuits."""
    for bank in block.banks:
        circuit = island.circuits[bank]
        circuit.time, circuit.registers = block.time, list(block.registers)
        circuit.rz_ready, circuit.alu_free = block.rz_ready, block.alu_free
        circuit.columns_ready = block.columns_ready
    written = (island.dram.written[bank] for bank in block.banks)
    until = 0 if island.host_until == NEVER else island.host_until
    island.host_until = island.aligned(
        max(until, block.time, block.rz_ready, block.columns_ready, *written)
    )
    island.settle()


# --- how the host reads and writes the circuits' registers ---


def read_register(island: Island, name: str) -> int:
    """Return the value of the circuit register `name` in bank 0."""
    place, _ = _REGISTERS[name]
    for block in island.blocks:
        if block.running and 0 in block.banks:
            return block.registers[place]
    return island.circuits[0].registers[place]


def write_register(island: Island, name: str, value: int, time: int) -> None:
    """Set the register `name` of the circuits to `value` in each bank that no block uses.

    `time` is the cycle of the access. Raises `Fault`.
    """
    place, greatest = _REGISTERS[name]
    if value > greatest:
        raise Fault(
            "out-of-range access",
            f"the register {name} of {island.name} takes 0 to {greatest}, not {value}",
            {"value": value},
        )
    in_use = {bank for block in island.blocks if block.running for bank in block.banks}
    for bank, circuit in enumerate(island.circuits):
        if bank not in in_use:
            circuit.registers[place] = value
    if island.island_origins is not None:
        island.island_origins.set_by_host(name, value, time, island.acting_address)


def release_circuits(island: Island, block: Block) -> None:
    """Copy the registers of an ending block to its circuits, which the host may use from now on."""
    for bank in block.banks:
        circuit = island.circuits[bank]
        circuit.time = circuit.rz_ready = circuit.alu_free = circuit.columns_ready = 0
        circuit.registers = list(block.registers)
