"""The accountant of vc: it charges the cycles of instructions, and their waits for results."""

from __future__ import annotations

from collections import Counter, deque

from macaw.emu.accountant import Accountant
from macaw.emu.charges import Charge
from macaw.emu.core import Core, Event
from macaw.emu.scalar.accountant import ScalarAccountant
from macaw.emu.vector.core import VectorCore
from macaw.emu.vector.scoreboard import waits, writes
from macaw.emu.vector.state import STORES
from macaw.isa.codec import Decoded
from macaw.isa.memory_map import EXTERNAL
from macaw.isa.vector_layouts import VECTOR_BYTES

# Families whose instructions write a register only if they load it from memory.
_LOADS = ("load", "vector memory")
_WORD = 4  # bytes of a general register
_LATEST = 64  # charges that are kept: a wait for an older instruction is rare


class VectorAccountant(ScalarAccountant):
    """Charges the cycles from the issue of an instruction to the issue of the next one.

    These cycles have three parts, in this order: the first cycle of the instruction, the cycles
    until memory accepted its access or until the target of its branch was fetched, and the wait of
    the next instruction for operands.

    The first cycle of a store is charged to the cause `narrow` if its bytes follow the bytes of the
    previous store, and one wider store could write the bytes of both. A program with the wider
    store saves this cycle, and also the cycles that `_store` names.

    If an instruction waits for a result, the charges since the issue of the instruction that makes
    the result are hidden. A change that saves a hidden cycle saves no time, because the wait then
    becomes one cycle longer.
    """

    core: VectorCore
    mendable = ("branches", "narrow", "loads", "results", "lanes")

    def __init__(self, core: VectorCore) -> None:
        super().__init__(core)
        self.counts = self._counts()
        # by place on the scoreboard: the instruction that writes it, whether it is a load, and when
        # it issued
        self.producers: dict[int, tuple[int, bool, int]] = {}
        # the latest charges that are not hidden: begin, end, charge
        self.latest: deque[tuple[int, int, Charge]] = deque(maxlen=_LATEST)
        self.targets: tuple[int, ...] = ()  # places that the latest instruction writes
        self.loaded: dict[int, tuple[int, int]] = {}  # by place: begin and end of the loaded bytes
        self.stored: int | None = None  # the place of the value that the latest instruction stores
        self.origin = 0  # the end of the bytes that the latest stored value was loaded from
        self.is_shifted = False  # whether the latest stored value was made by a shift of bytes
        self.lane: int | None = None  # address of the move of the stored value out of a vector
        # the cycles that stepped a loop since the latest store; None if an instruction came that
        # neither stepped a loop nor made a value to store
        self.since_store: Counter[Charge] | None = None
        # the cycles that vanish if the store that issued last is joined with the one before
        self.vanishing: Counter[Charge] = Counter()
        self.written = self.next_write = 0  # begin and end of the bytes of the latest store
        self.is_narrow = False  # whether the store that issued last follows the one before it
        self.is_external = False  # whether the latest access was one to external memory

    def _counts(self) -> tuple[int, int, int]:
        core = self.core
        return core.cycles_memory, core.cycles_branches, core.cycles_operands

    def hear(self, event: Event) -> None:
        if event.kind in ("read", "write"):
            begin, size = int(event.values["address"]), int(event.values["size"])
            self.is_external = begin >= EXTERNAL
            if event.kind == "write":
                self._store(begin, size)
            else:
                self.loaded.update(dict.fromkeys(self.targets, (begin, begin + size)))
        if event.kind != "instruction" or self.core.waiting is not None:
            return
        time, address = event.time, int(event.values["address"])
        operands = self._end_instruction(time)
        self.waits(address)
        found = self.core.decoder.fetch(address)
        self.idle(time - operands)
        if self.at < time:
            place = max(waits(found), key=lambda place: self.core.ready[place])
            producer, is_load, issued = self.producers.get(place, (None, False, time))
            cause = "latency" if place == STORES else "loads" if is_load else "results"
            self._hide(issued, cause)
            self.span(cause, time, address, producer=producer)
        self.keep_charges()
        self.address = address
        self.note_branch(address, found)
        self._note_step(address, found)
        self.stored = found.values["rs2"] if found.row.family == "store" else None
        self.lane = self._source_of_lane(found)
        is_load = found.row.family in _LOADS
        self.targets = writes(found)
        for place in self.targets:
            self.producers[place] = address, is_load, time
            self.loaded.pop(place, None)

    def span(
        self,
        cause: str,
        until: int,
        address: int | None = None,
        whom: str = "",
        producer: int | None = None,
        cores: int = 0,
    ) -> None:
        begin = self.at
        super().span(cause, until, address, whom, producer, cores)
        if cause in self.mendable and until > begin:
            self.latest.append((begin, until, Charge(cause, address, whom, producer, cores)))

    def _hide(self, since: int, cause: str) -> None:
        """Record that a wait with the cause `cause` hides the earlier charges from `since` on.

        To save a hidden cycle saves no time, because the wait then becomes one cycle longer.
        Charges to `cause` itself are not hidden.
        """
        visible = []
        while self.latest and self.latest[-1][0] >= since:
            begin, end, charge = item = self.latest.pop()
            if charge.cause == cause:
                visible.append(item)
            else:
                self.hidden[charge] = self.hidden.get(charge, 0) + end - begin
        self.latest.extend(reversed(visible))

    def _store(self, address: int, size: int) -> None:
        """Record a store of `size` bytes at `address`, and whether it is narrow (`is_narrow`).

        A store is narrow if one wider store could replace it and the previous store. `vanishing`
        gets the cycles of other instructions that the wider store would save:

        - of the instruction that made the stored value, if it only took bytes out of a register (a
          move or a shift), or loaded them from the place right after the previous stored bytes
        - of a loop's counter and branch since the previous store, if all other instructions since
          then only made values to store (`since_store`)
        """
        producer, is_load = None, False
        if self.stored is not None:
            producer, is_load, _ = self.producers.get(self.stored, (None, False, 0))
        maker = None if producer is None else self.core.decoder.fetch(producer)
        # one store could write all parts of a general register, but not those of two
        before, self.is_shifted = self.is_shifted, maker is not None and _is_byte_shift(maker)
        size_of_one = _WORD if before or self.is_shifted else VECTOR_BYTES
        end = address + size
        in_one = (end - 1) // size_of_one == self.written // size_of_one
        self.is_narrow = address == self.next_write and in_one
        self.written, self.next_write = address, end
        first, until = self.loaded.get(self.stored, (0, 0)) if self.stored is not None else (0, 0)
        side_by_side = until - first == size and first == self.origin
        self.origin = until
        self.vanishing, self.since_store = self.since_store or Counter(), Counter()
        if maker is not None and (side_by_side if is_load else _takes_a_part(maker)):
            self.vanishing[Charge("work", producer)] += self.core.divider

    def _note_step(self, address: int, found: Decoded) -> None:
        """Record whether a program could leave out the instruction `found` after a store.

        One wider store may replace this store and the next one. Then the program can leave out the
        counter and the branch of the loop between the stores: the method adds their cycles to
        `since_store`. Instructions that make a value to store change nothing. Any other instruction
        sets `since_store` to None: no instruction between the stores can then be left out.
        """
        values = found.values
        counts = found.row.family == "immediate" and values["rd"] == values["rs1"]
        if counts or (found.row.family == "branch" and address not in self.needed):
            if self.since_store is not None:
                self.since_store[Charge("work", address)] += self.core.divider
        elif not (found.row.family in ("store", *_LOADS) or _takes_a_part(found)):
            self.since_store = None

    def _source_of_lane(self, found: Decoded) -> int | None:
        """Return the address of the instruction that moved the stored value out of a vector.

        The stored value is the one that `found` stores. The result is None if it comes from
        elsewhere, or if `found` does not store a general register.
        """
        if found.row.family != "store":
            return None
        place = found.values["rs2"]
        producer, _, _ = self.producers.get(place, (None, False, 0))
        if producer is None or self.core.decoder.fetch(producer).row.family != "vector move":
            return None
        return producer

    def _end_instruction(self, time: int) -> int:
        """Charge the cycles of the instruction that issued last, up to `time`, the next issue.

        Return the cycles for which the next instruction waited for operands.
        """
        divider, before = self.core.divider, self.counts
        self.counts = self._counts()
        memory, branches, operands = (
            (now - then) * divider for now, then in zip(self.counts, before, strict=True)
        )
        if self.address is not None:
            banks, channel = self.new_traffic()
            self.waits(self.address)
            cause, lane = ("narrow", self.lane) if self.is_narrow else ("work", None)
            self.is_narrow = False
            if cause == "narrow":
                self.along[Charge(cause, self.address, producer=lane)].update(self.vanishing)
            self.span(cause, min(self.at + divider, time), self.address, producer=lane)
            end = min(self.at + memory, time)
            if self.parts(end, self.address, (("banks", banks), ("channel", channel))):
                self.span("channel" if self.is_external else "lanes", end, self.address)
            if branches and self.since_store is not None:
                self.since_store[Charge("branches", self.address)] += branches
            self.span("branches", min(self.at + branches, time), self.address)
            self.address = None
        return operands

    def settle(self, time: int) -> None:
        core = self.core
        pending = core.pending is not None
        address = self.address
        if pending:
            self.span("work", min(self.at + core.divider, time), address)
            self.span("banks", time, address)
            return
        # The instruction that issued last may take cycles after the end of the run.
        operands = self._end_instruction(max(time, core.time if core.running else time))
        self.waits(address)
        if operands and core.running:
            self.span("results", self.at + operands, core.next_address)


def _takes_a_part(found: Decoded) -> bool:
    """Return whether an instruction takes bytes out of a register: a move or a shift of bytes."""
    return found.row.family == "vector move" or _is_byte_shift(found)


def _is_byte_shift(found: Decoded) -> bool:
    return found.values.get("shamt", 1) % 8 == 0


def make(core: Core) -> Accountant:
    """Return a new accountant of vc."""
    assert isinstance(core, VectorCore)
    return VectorAccountant(core)
