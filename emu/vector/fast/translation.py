"""The translator of vc: it writes blocks whose text includes the scoreboard and external memory.

The scoreboard has, for each of its places, the cycle from which the result can be used. The text
computes only places that may get a cycle in the future; they are variables (`r40`). All other
places must be ready when the function begins. An instruction does not test a place that is surely
ready: because the place was ready before, or because an earlier instruction of the pass has waited
for it. The text calls the acts of instructions on lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from macaw.emu.faults import Fault
from macaw.emu.pages import SHARED, SHIFT, WRITTEN
from macaw.emu.scalar.fast.inlining import name_for
from macaw.emu.scalar.fast.translation import Translator
from macaw.emu.scalar.runs import ENDS
from macaw.emu.scalar.semantics import LOADS, MASK, SIGN, STORES
from macaw.emu.vector.binding import bind
from macaw.emu.vector.fast.tally import TranslatingVectorCore
from macaw.emu.vector.scoreboard import SERVED, waits, writes
from macaw.emu.vector.state import FIRST_VECTOR
from macaw.emu.vector.state import STORES as LAST_STORE
from macaw.isa.codec import Decoded
from macaw.isa.memory_map import EXTERNAL
from macaw.isa.vector import OPERATIONS
from macaw.isa.vector_layouts import VECTOR_BYTES

_TRAFFIC = ("external_reads", "external_writes", "external_partial", "external_blocked")
# The arguments of `add_vector_block` about accesses of these kinds.
_ACCESSES = ("first_read", "read", _TRAFFIC[0], "first_write", "written", *_TRAFFIC[1:3])
_CYCLES = {"operands": "cycles_operands", "memory": "cycles_memory", "branches": "cycles_branches"}


def size_of(found: Decoded) -> int | None:
    """Return the size in bytes of an access that a block may contain.

    The result is None for any other instruction.
    """
    mnemonic = found.row.mnemonic
    if mnemonic in OPERATIONS:
        is_whole = found.row.family == "vector memory" and "imm" in found.values
        return VECTOR_BYTES if is_whole else None
    return LOADS[mnemonic][0] if mnemonic in LOADS else STORES.get(mnemonic)


def accepts(core: TranslatingVectorCore, found: Decoded) -> bool:
    """Return whether a block may contain the instruction."""
    size = size_of(found)
    if size is not None:
        channel = core.device.memory.channel
        # duration of an access of one beat when the channel is free
        return channel.width % size == 0 and channel.jitter is None
    return found.row.family not in (*SERVED, "vector memory")


class VectorTranslator(Translator):
    """Writes the Python function of a block of vc."""

    counters = ("products", *_TRAFFIC[:3])
    variables = (*_CYCLES, _TRAFFIC[3])

    def __init__(
        self,
        core: TranslatingVectorCore,
        start: int,
        instructions: Sequence[Decoded],
        edition: int,
    ) -> None:
        super().__init__(core, start, instructions, edition)
        self.core: TranslatingVectorCore = core
        self.sizes = [size_of(found) for found in instructions]
        self.has_access = any(self.sizes)
        late = {
            place
            for found, cost in zip(instructions, map(self.cost, instructions), strict=True)
            if size_of(found) or self._latency(found) > cost
            for place in writes(found)
        }
        self.late = sorted(late | {LAST_STORE} if self.has_access else late)
        used = {place for found in instructions for place in waits(found)}
        self.demanded = sorted(used - late)
        self.ready: set[int] = set()  # places that are surely ready
        self.names |= {"MASK": MASK, "Fault": Fault}
        self.issue = "t"  # the variable with the value of `t` before the instruction waited
        self.leaving = False  # whether the lines are for before the instruction, not after it
        latencies = [self._latency(found) for found in instructions if core.uses(found.row)]
        self.longest_use = max(latencies, default=0)
        self.longest = max(self._latency(found) for found in instructions)

    def cost(self, found: Decoded) -> int:
        if found.row.family in ENDS:
            timing = self.core.timing
            return timing.alu if found.row.family == "branch" else timing.taken
        return self.core.divider

    @property
    def tallied(self) -> tuple[str, ...]:
        return ("lanes", "arrays") if self.counting else ()

    def begin(self) -> None:
        super().begin()
        self.ready = set(self.demanded)

    def _latency(self, found: Decoded) -> int:
        timing = self.core.timing
        return timing.alu if found.row.family in ENDS else timing.of_family[found.row.family]

    def enter(self) -> Iterable[str]:
        yield "ready = core.ready"
        for place in self.late:
            yield f"r{place} = ready[{place}]"
        if self.demanded:
            yield f"if {' or '.join(f'ready[{place}] > t' for place in self.demanded)}:"
            yield "    return True"
        if self.has_access:
            yield "free = channel.free"

    def tally_enter(self) -> Iterable[str]:
        yield "begun = t"
        for place in waits(self.instructions[0]):
            if place in self.late:
                yield f"if r{place} > begun: begun = r{place}"
        yield "first = first_read = first_write = -1"
        yield "used = late = read = written = 0"

    def wait(self, found: Decoded) -> Iterable[str]:
        self.issue = "t"
        size = self.sizes[self.place]
        if size is not None:  # an access that leaves the block does so before it waits
            yield from self._test_address(found, size)
        if self.counting:
            late = len(set(waits(found)) - self.ready)
            may_leave = found.row.mnemonic in OPERATIONS or found.row.family == "jump"
            if late > 1 or (late and may_leave and size is None):
                self.issue = "before"
                yield "before = t"
        yield from self._waiting(found)
        if self.cutting:
            yield f"if begun < 0: begun = t + {self.offset}"

    def leave(self) -> list[str]:
        self.leaving = True
        lines = super().leave()
        self.leaving = False
        return lines

    def exit(self, following: str, cost: int = 0) -> list[str]:
        lines = super().exit(following, cost)
        if (
            self.counting
        ):  # the end of this instruction; if it leaves, the end of the previous instruction
            time = self.issue if self.leaving else "t"
            lines.insert(1, f"ended = {time} + {self.offset + cost}")
        return lines

    def _waiting(self, found: Decoded) -> Iterable[str]:
        for place in waits(found):
            if place in self.ready:
                continue
            self.ready.add(place)
            begin = f"t + {self.offset}" if self.offset else "t"
            yield f"if r{place} > {begin}:"
            yield f"    if r{place} + {self.rest[self.place]} >= limit:"
            yield from (f"        {line}" for line in self.leave())
            yield f"    operands += r{place} - ({begin})"
            yield f"    t = r{place} - {self.offset}" if self.offset else f"    t = r{place}"

    def after(self, found: Decoded) -> Iterable[str]:
        latency = self._latency(found)
        if self.sizes[self.place] is not None:
            return  # `_access` has written these lines
        is_late = latency > self.cost(found)  # otherwise it is ready in time
        to = [f"r{place} = " for place in writes(found)] if is_late else []
        self.ready -= set(writes(found) if is_late else ())
        until = f"t + {self.offset + latency}"
        lanes = self.core.uses(found.row) if self.counting else 0
        if lanes:
            if self.cutting or not self.counts["arrays"]:
                yield f"if first < 0: first = t + {self.offset}"
            self.counts["lanes"] += lanes
            self.counts["arrays"] += 1
            if latency == self.longest_use:
                to.append("used = ")
            else:
                yield f"used = max(used, {until})"
        elif self.counting and is_late and (to or found.row.family not in ENDS):
            if latency == self.longest:
                to.append("late = ")
            else:
                yield f"late = max(late, {until})"
        if to:
            yield f"{''.join(to)}{until}"

    @property
    def lasting(self) -> Iterable[str]:
        return ("products",) if self.counts["products"] else ()

    @property
    def adder(self) -> Callable[..., None]:
        return self.core.add_vector_block

    def tally(self) -> Iterable[str]:
        values = "begun, max(ended, late, used), first, used, lanes, arrays"
        yield f"add_block({values}{', '.join(('', *_ACCESSES)) if self.has_access else ''})"

    def crossing(self) -> Iterable[str]:
        def now(name: str) -> str:
            counted = self.counts[name]
            return f"{name} + {counted}" if counted else name

        accesses = [now(name) if name in self.counts else name for name in _ACCESSES]
        values = [f"max(t + {self.offset}, late, used)", "first", "used"]
        values += [now("lanes"), now("arrays"), *(accesses if self.has_access else ())]
        yield f"add_block(begun, {', '.join(values)})"
        yield "begun = first = first_read = first_write = -1"
        yield "used = late = 0"
        for name in (*self.tallied, *(_TRAFFIC[:3] if self.has_access else ())):
            yield f"{name} = -{self.counts[name]}"

    def count_branch(self, cost: int) -> Iterable[str]:
        lost = cost - self.core.divider
        return (f"branches += {lost}",) if lost else ()

    def finish(self) -> Iterable[str]:
        for place in self.late:
            yield f"ready[{place}] = r{place}"
        divider = f" // {self.core.divider}" if self.core.divider > 1 else ""
        for name, counter in _CYCLES.items():
            yield f"core.{counter} += {name}{divider}"
        yield "core.products += products"
        if self.has_access:
            self.names |= {"channel": self.core.device.memory.channel, "port": self.core.port}
            yield "channel.free = free"
            # `add_block` adds the other counts
            for name in _TRAFFIC[3:] if self.counting else _TRAFFIC:
                yield f"port.{name} += {name}"

    # Instructions that are called, not written as text

    def call(self, found: Decoded) -> Iterable[str] | None:
        if self.sizes[self.place] is not None:
            return self._access(found)
        if found.row.mnemonic in OPERATIONS:
            return self._act(found)
        return None

    def _act(self, found: Decoded) -> list[str]:
        """Return the lines that call the act of an instruction on lanes.

        General registers are copied from variables to `core.x` before the call, and back after it.
        """
        act, products = bind(self.core, found)
        name = name_for(self.names, "act", act)
        general = [place for place in waits(found) if place < FIRST_VECTOR]
        lines = [f"x[{place}] = x{place}" for place in general]
        lines += ["try:", f"    {name}()", "except Fault:", *(f"    {x}" for x in self.leave())]
        lines += [f"x{place} = x[{place}]" for place in writes(found) if place < FIRST_VECTOR]
        self.counts["products"] += products
        return lines

    def _test_address(self, found: Decoded, size: int) -> list[str]:
        """Return the lines that end the function before an access outside of external memory."""
        values, external = found.values, self.core.device.memory.external
        base = f"x{values['rs1']}" if values["rs1"] else "0"
        is_load = "memory" in found.row.reads.split()
        leave = [f"    {line}" for line in self.leave()]
        # An address that wraps is outside here; the interpreter wraps it.
        lines = [f"offset = {base} - {EXTERNAL - values['imm']:#x}"]
        aligned = f" or offset & {size - 1}" if size > 1 else ""
        lines += [f"if not 0 <= offset <= {external.size - size}{aligned}:", *leave]
        if not is_load:
            watched = name_for(self.names, "watched", external.watched)
            words = "offset >> 2" if size <= 4 else f"offset >> 2:(offset >> 2) + {size // 4}"
            any_watched = f"{watched}[{words}]" if size <= 4 else f"any({watched}[{words}])"
            marks = name_for(self.names, "marks", external.marks)
            lines.append(f"mark = {marks}[offset >> {SHIFT}]")
            lines.append(f"if mark != {WRITTEN} and (mark != {SHARED} or {any_watched}):")
            lines += leave
        return lines

    def _access(self, found: Decoded) -> list[str]:
        """Return the lines of an access to external memory at `offset`."""
        size = self.sizes[self.place] or 0
        is_load = "memory" in found.row.reads.split()
        move = self._move(found, size, is_load)
        self.counts["external_reads" if is_load else "external_writes"] += 1
        if not is_load:
            channel = self.core.device.memory.channel
            self.counts["external_partial"] += channel.partial(0, size)
        is_last = self.place + 1 == len(self.instructions)
        late = () if is_last else self._test_limit()
        return [move, *self._take_channel(found, is_load, late)]

    def _move(self, found: Decoded, size: int, is_load: bool) -> str:
        """Return the line that moves the bytes of an access."""
        external, values = self.core.device.memory.external, found.values
        if size == VECTOR_BYTES:
            data = name_for(self.names, "data", external.bytes)
            row = f"offset:offset + {size}"
            number = values["rd"] if is_load else values["rs2"]
            register = name_for(self.names, f"vr{number}", self.core.vr[number].data)
            return f"{register}[:] = {data}[{row}]" if is_load else f"{data}[{row}] = {register}"
        view = {1: external.bytes, 2: external.halves, 4: external.words}[size]
        shift = size.bit_length() - 1
        at = f"{name_for(self.names, 'data', view)}[offset{f' >> {shift}' if shift else ''}]"
        if not is_load:
            source = f"x{values['rs2']}" if values["rs2"] else "0"
            return f"{at} = {source} & {(1 << 8 * size) - 1:#x}"
        if LOADS[found.row.mnemonic][1]:
            sign = SIGN >> 32 - 8 * size
            at = f"({at} ^ {sign}) - {sign} & MASK"
        return f"x{values['rd']} = {at}" if values["rd"] else f"sink = {at}"

    def _aligned(self, time: str) -> str:
        divider = self.core.divider
        return f"-(-({time}) // {divider}) * {divider}" if divider > 1 else time

    def _take_channel(self, found: Decoded, is_load: bool, late: Iterable[str]) -> Iterable[str]:
        """Yield the lines that wait until the channel is free and occupy it for one beat.

        The lines `late` follow a wait: only then may the next instructions reach the limit.
        """
        begin = "read" if is_load else "written"  # the end of the last access
        yield f"{begin} = t + {self.offset}" if self.offset else f"{begin} = t"
        of = "external_reads" if is_load else "external_writes"
        if self.cutting or (self.counting and self.counts[of] == 1):
            first = "first_read" if is_load else "first_write"
            yield f"if {first} < 0: {first} = {begin}"
        occupied = list(self._occupy(found, is_load, begin))
        yield f"if free > {begin}:"
        yield f"    external_blocked += free - {begin}"
        yield f"    moved = {self._aligned('free + 1')} - {begin} - {self.core.divider}"
        yield "    memory += moved"
        yield "    t += moved"
        yield f"    {begin} = free"
        yield from (f"    {line}" for line in (*occupied, *late))
        yield "else:"
        yield from (f"    {line}" for line in occupied)

    def _occupy(self, found: Decoded, is_load: bool, begin: str) -> Iterable[str]:
        """Yield the lines after an access that begins when the variable `begin` says."""
        yield f"free = {begin} + 1"
        after = self._aligned(f"{begin} + {self.core.device.memory.channel.latency + 1}")
        if not is_load:
            yield f"until = {after}"
            yield f"if until > r{LAST_STORE}: r{LAST_STORE} = until"
            return
        for place in writes(found):
            self.ready.discard(place)
            yield f"r{place} = {after}"

    def _test_limit(self) -> Iterable[str]:
        """Yield the lines that end the function if the next instructions may reach the limit.

        The limit is a cycle, which the function gets as an argument.
        """
        following = self.offset + self.core.divider
        yield f"if t + {following + self.rest[self.place + 1]} >= limit:"
        yield "    plain = True"
        yield f"    pc = {self.address + 4:#x}"
        counts = self.counts | {"done": self.place + 1}
        yield from (f"    {name} += {value}" for name, value in counts.items() if value)
        yield f"    t += {following}"
        if self.counting:
            yield "    ended = t"
        yield "    break"
