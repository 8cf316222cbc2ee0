"""The translator of vc: it writes blocks whose text includes the scoreboard and external memory.

The scoreboard has, for each of its places, the cycle from which the result can be used. The
schedule (`macaw.emu.vector.fast.schedule`) knows most of these cycles for a pass through the block.
The text tests only the other places; they are variables (`r40`). The channel of external memory is
free for the first access when the function begins. Each access takes one beat, and one instruction
begins in a cycle, so later accesses of the block do not wait for the channel. The text calls the
acts of instructions on lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

from macaw.emu.faults import Fault
from macaw.emu.pages import Pages
from macaw.emu.scalar.fast.accesses import size_of as scalar_size
from macaw.emu.scalar.fast.inlining import name_for
from macaw.emu.scalar.fast.loops import Steps, Value, added, find_value
from macaw.emu.scalar.fast.passes import Timed, Walk
from macaw.emu.scalar.fast.translation import Translator
from macaw.emu.scalar.runs import ENDS
from macaw.emu.scalar.semantics import MASK
from macaw.emu.tallies import ARRAY, PARTIAL, READS, UNIT, WRITES, Use
from macaw.emu.vector.binding import bind
from macaw.emu.vector.fast.reductions import FEWEST, Reduction, find_reduction
from macaw.emu.vector.fast.schedule import Issue, find_schedule
from macaw.emu.vector.fast.tally import TranslatingVectorCore
from macaw.emu.vector.scoreboard import SERVED, waits, writes
from macaw.emu.vector.state import FIRST_VECTOR
from macaw.emu.vector.state import STORES as LAST_STORE
from macaw.isa.codec import Decoded
from macaw.isa.memory_map import EXTERNAL
from macaw.isa.vector import OPERATIONS
from macaw.isa.vector_layouts import VECTOR_BYTES

_KEPT = "# kept "  # a mark in the text of a block
_LASTING = ("operands", "branches", "products")  # counts of the core
_TRAFFIC = ("external_reads", "external_writes", "external_partial")
# The arguments of `add_vector_block` about accesses of these kinds.
_ACCESSES = ("first_read", "read", _TRAFFIC[0], "first_write", "written", *_TRAFFIC[1:])


def size_of(found: Decoded) -> int | None:
    """Return the size in bytes of a load or store that a block may contain.

    The result is None for any other instruction, for example a strided access.
    """
    if found.row.mnemonic in OPERATIONS:
        is_whole = found.row.family == "vector memory" and "imm" in found.values
        return VECTOR_BYTES if is_whole else None
    return scalar_size(found)


def accepts(core: TranslatingVectorCore, found: Decoded) -> bool:
    """Return whether a block may contain the instruction.

    A load or store must move a whole register or less in one beat of external memory, without
    random delays of the channel. Instructions that call a service are not accepted.
    """
    size = size_of(found)
    if size is not None:
        channel = core.device.memory.channel
        # an access must be one beat, and start at once if the channel is free
        return channel.width % size == 0 and channel.jitter is None
    return found.row.family not in (*SERVED, "vector memory")


def _later(cycles: int) -> str:
    """Return an expression, as text, for the time `cycles` after the block's variable `t`."""
    return f"t + {cycles}" if cycles else "t"


class VectorTranslator(Translator):
    """Writes the Python function of a block of vc."""

    counters = (*_LASTING, *_TRAFFIC)

    def __init__(
        self,
        core: TranslatingVectorCore,
        start: int,
        instructions: Sequence[Decoded],
        edition: int,
    ) -> None:
        super().__init__(core, start, instructions, edition)
        self.core: TranslatingVectorCore = core
        self.has_access = any(self.sizes)
        late = {
            place
            for found, cost in zip(instructions, map(self.cost, instructions), strict=True)
            if size_of(found) or self._latency(found) > cost
            for place in writes(found)
        }
        self.late = sorted(late | {LAST_STORE} if self.has_access else late)
        issues = [self._issue(place, found) for place, found in enumerate(instructions)]
        is_timed = not self.counting and core.divider == 1
        demanded, self.tested, self.stalls = find_schedule(issues, is_timed)
        self.is_timed = self.is_timed and not any(self.tested)
        costs = [stall + issue.cost for stall, issue in zip(self.stalls, issues, strict=True)]
        self.begins = [0, *accumulate(costs)]
        # By place that must be ready when the function begins: when an instruction first needs it.
        self.demanded: dict[int, int] = {}
        for issue, begin, stall in zip(issues, self.begins, self.stalls, strict=False):
            for place in issue.waits:
                if place in demanded:
                    self.demanded.setdefault(place, begin + stall)
        self.rest = [sum(costs[place:-1]) + self.stalls[-1] for place in range(len(costs))]
        if self.steady:
            self.steady = sum(costs[: self.back]) + self.stalls[self.back or 0] + core.timing.taken
        if any(self.tested):
            self.steady = 0
        # Variables with a cycle that the text has not set yet, and the cycle as text.
        self.pending: dict[str, str] = {}
        self.kept: dict[str, str] = {}  # variables that an exit sets to a cycle of the last pass
        self.names["Fault"] = Fault
        self.issue = "t"  # the variable with the value of `t` before the instruction waited
        self.leaving = False  # whether the lines run before the instruction, not after it
        latencies = [self._latency(found) for found in instructions if core.uses(found.row)]
        self.longest_use = max(latencies, default=0)
        self.longest = max(self._latency(found) for found in instructions)

    def _issue(self, place: int, found: Decoded) -> Issue:
        """Return the waits and results of the instruction with index `place`, for the schedule."""
        latency, cost = self._latency(found), self.cost(found)
        if self.sizes[place]:
            latency = self.core.device.memory.channel.latency + 1
        late = writes(found) if self.sizes[place] or latency > cost else ()
        is_back = found.row.family in ENDS and found.values.get("target") == -4 * place
        return Issue(waits(found), late, latency, cost, self.core.timing.taken if is_back else None)

    def timed(self, place: int, found: Decoded) -> Timed:
        begin = self.begins[place] + self.stalls[place]
        latency, cost, row = self._latency(found), self.cost(found), found.row
        if row.family in ENDS:
            until = begin + (max(latency, cost) if writes(found) else cost)
            is_branch = row.family == "branch"
            return Timed(begin, until, begin + self.core.timing.taken if is_branch else until, ())
        size = self.sizes[place]
        if size is None:
            until, units = begin + max(latency, cost), self.core.uses(row)
            used = ((UNIT, units), (ARRAY, 1)) if units else ()
            return Timed(begin, until, until, [Use(x, begin, until, count) for x, count in used])
        channel = self.core.device.memory.channel
        ready = begin + channel.latency + 1
        counts = [(READS, 1)] if "memory" in row.reads.split() else [(WRITES, 1)]
        if counts[0][0] == WRITES and channel.partial(0, size):
            counts.append((PARTIAL, 1))
        until = max(begin + cost, begin + self.core.aligned(channel.latency + 1))
        return Timed(begin, until, until, [Use(x, begin, ready, count) for x, count in counts])

    def walks(self) -> Sequence[Walk] | None:
        return self.accesses.walks(self._value)

    def _value(self, register: int, place: int) -> Value | None:
        """Return the value of a register before the instruction with index `place`.

        The result is None if the value is not known, or differs from pass to pass.
        """
        value = find_value(self.start, self.instructions[:place], self.written, register)
        return None if value is not None and value.register and self.loop else value

    def size_of(self, found: Decoded) -> int | None:
        return size_of(found)

    def writes(self, found: Decoded) -> tuple[int, ...]:
        return tuple(place for place in writes(found) if place < FIRST_VECTOR)

    def memory(self) -> tuple[Pages, int]:
        return self.core.device.memory.external, EXTERNAL

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
        self.pending.clear()

    def _latency(self, found: Decoded) -> int:
        timing = self.core.timing
        return timing.alu if found.row.family in ENDS else timing.of_family[found.row.family]

    def enter(self) -> Iterable[str]:
        yield "ready = core.ready"
        for place in self.late:
            yield f"r{place} = ready[{place}]"
        if self.demanded:
            tests = (f"ready[{place}] > {_later(time)}" for place, time in self.demanded.items())
            yield f"if {' or '.join(tests)}:"
            yield "    return True"
        if self.has_access:
            # A block does not wait for the channel; before its first access, the interpreter waits.
            first = next(place for place, size in enumerate(self.sizes) if size)
            begin = self.begins[first]
            yield "free = channel.free"
            yield f"if free > {_later(begin)} or ready[{LAST_STORE}] > {self._accessed(begin)}:"
            yield "    return True"

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
        # an access that leaves the block does so before it waits
        yield from super().wait(found)
        if self.counting:
            late = len(self.tested[self.place])
            may_leave = found.row.mnemonic in OPERATIONS or found.row.family == "jump"
            if late > 1 or (late and may_leave and size is None):
                self.issue = "before"
                yield "before = t"
        yield from self._waiting()
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

    def _waiting(self) -> Iterable[str]:
        tested = self.tested[self.place]
        if tested:  # afterwards t may be another cycle
            yield from (f"{name} = {cycle}" for name, cycle in self.pending.items())
            self.pending.clear()
        for place in tested:
            begin = _later(self.offset)
            yield f"if r{place} > {begin}:"
            yield f"    if r{place} + {self.rest[self.place]} >= limit:"
            yield from (f"        {line}" for line in self.leave())
            yield f"    operands += r{place} - ({begin})"
            yield f"    t = r{place} - {self.offset}" if self.offset else f"    t = r{place}"
        stall = self.stalls[self.place]
        self.offset += stall
        self.counts["operands"] += stall

    def _count_pass(self, cost: int, again: bool) -> list[str]:
        lines = super()._count_pass(cost, again)
        cycles = [f"{name} = {cycle}" for name, cycle in self.pending.items()]
        if not self.steady:
            return [*cycles, *lines]
        if again:  # the exits in the next pass set the variables
            before = f"t - {self.steady}"
            self.kept = {name: cycle.replace("t", before) for name, cycle in self.pending.items()}
            return lines
        return [lines[0], *cycles, f"{_KEPT}{' '.join(self.pending)}", *lines[1:]]

    def _function(self, head: list[str], body: list[str]) -> str:
        return super()._function(*(list(self._set_kept(lines)) for lines in (head, body)))

    def _set_kept(self, lines: Iterable[str]) -> Iterable[str]:
        """Yield the lines, but replace each line that has the mark `_KEPT` by assignments.

        Such a mark stands at each exit of the function, and lists the variables that the present
        pass sets. The assignments set the other variables of `kept`, to which only an earlier pass
        has given a value.
        """
        for line in lines:
            indent, mark, names = line.partition(_KEPT)
            left = [x for x in self.kept if x not in names.split()] if mark else []
            if not mark:
                yield line
            elif left:
                yield f"{indent}if passes:"
                yield from (f"{indent}    {name} = {self.kept[name]}" for name in left)

    def after(self, found: Decoded) -> Iterable[str]:
        yield from super().after(found)
        latency = self._latency(found)
        if self.sizes[self.place] is not None:
            return  # `_access` has written these lines
        is_late = latency > self.cost(found)  # otherwise the result is ready in time
        to = [f"r{place} = " for place in writes(found)] if is_late else []
        until = f"t + {self.offset + latency}"
        if not self.counting:
            self.pending.update((f"r{place}", until) for place in writes(found) if is_late)
            return
        lanes = self.core.uses(found.row)
        if lanes:
            if self.cutting or not self.counts["arrays"]:
                yield f"if first < 0: first = t + {self.offset}"
            self.counts["lanes"] += lanes
            self.counts["arrays"] += 1
            if latency == self.longest_use:
                to.append("used = ")
            else:
                yield f"used = max(used, {until})"
        elif is_late and (to or found.row.family not in ENDS):
            if latency == self.longest:
                to.append("late = ")
            else:
                yield f"late = max(late, {until})"
        if to:
            yield f"{''.join(to)}{until}"

    @property
    def lasting(self) -> Iterable[str]:
        return [name for name in _LASTING if self.counts[name]]

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
        for name in (*self.tallied, *(_TRAFFIC if self.has_access else ())):
            yield f"{name} = -{self.counts[name]}"

    def count_branch(self, cost: int) -> None:
        self.counts["branches"] += cost - self.core.divider

    def skip(self) -> Iterable[str]:
        reduction = self._find_reduction() if self.steady else None
        if reduction is None:
            return
        self.names["reduction"] = reduction
        yield f"if bound - t > {FEWEST * self.steady}:"
        yield f"    passes = reduction((bound - t - 1) // {self.steady}, x)"
        for found in self.loop:
            by = added(found)
            if by is not None:
                name = f"x{found.values['rd']}"
                yield f"    {name} = {name} + passes * {by} & {MASK}"
        yield f"    t += passes * {self.steady}"

    def _find_reduction(self) -> Reduction | None:
        """Return the reduction that does many passes of the block's loop; None if there is none."""
        core, loop = self.core, self.loop
        stops = any(self.start + 4 * place in core.breaks for place in range(len(loop)))
        branch = loop[-1]
        if stops or branch.row.family != "branch" or any(map(core.probe_set.of, loop)):
            return None
        steps = Steps(loop, self.written)
        return find_reduction(core, loop, steps, self.condition(branch))

    def finish(self) -> Iterable[str]:
        for place in self.late:
            yield f"ready[{place}] = r{place}"
        divider = f" // {self.core.divider}" if self.core.divider > 1 else ""
        for name in ("operands", "branches"):
            yield f"core.cycles_{name} += {name}{divider}"
        yield "core.products += products"
        if self.has_access:
            self.names |= {"channel": self.core.device.memory.channel, "port": self.core.port}
            yield "channel.free = free"
            for name in () if self.counting else _TRAFFIC:  # else `add_block` adds the counts
                yield f"port.{name} += {name}"

    # Instructions that are called, not written as text

    def call(self, found: Decoded) -> Iterable[str] | None:
        if self.sizes[self.place] is not None:
            return self._access(found)
        if found.row.mnemonic in OPERATIONS:
            return self._act(found)
        return None

    def _act(self, found: Decoded) -> list[str]:
        """Return the lines that call the function which executes an instruction on lanes (its act).

        General registers are copied from variables to `core.x` before the call, and back after it.
        """
        act, products = bind(self.core, found)
        name = name_for(self.names, "act", act)
        general = [place for place in waits(found) if place < FIRST_VECTOR]
        lines = [f"x[{place}] = x{place}" for place in general]
        lines += ["try:", f"    {name}()", "except Fault:", *(f"    {x}" for x in self.leave())]
        written = [f"x{place}" for place in self.writes(found)]
        lines += [f"{name} = x[{name[1:]}]" for name in written]
        for name in written:
            self.spans.pop(name, None)
        self.counts["products"] += products
        return lines

    def _access(self, found: Decoded) -> list[str]:
        """Return the lines of the instruction `found`, an access to external memory."""
        size = self.sizes[self.place] or 0
        is_load = "memory" in found.row.reads.split()
        self.counts["external_reads" if is_load else "external_writes"] += 1
        if not is_load:
            channel = self.core.device.memory.channel
            self.counts["external_partial"] += channel.partial(0, size)
        return [self.access(found), *self._take_channel(found, is_load)]

    def access(self, found: Decoded) -> str:
        """Return the line that moves the bytes of the access `found`."""
        if found.row.mnemonic not in OPERATIONS:
            return super().access(found)
        row, values = self.accesses.row(self.place), found.values
        is_load = "rd" in values
        number = values["rd"] if is_load else values["rs2"]
        register = name_for(self.names, f"vr{number}", self.core.vr[number].data)
        return f"{register}[:] = {row}" if is_load else f"{row} = {register}"

    def _accessed(self, offset: int) -> str:
        """Return an expression, as text, for the time at which memory has done an access.

        The access begins `offset` cycles after the block's variable `t`.
        """
        divider = self.core.divider
        time = f"t + {offset + self.core.device.memory.channel.latency + 1}"
        return f"-(-({time}) // {divider}) * {divider}" if divider > 1 else time

    def _take_channel(self, found: Decoded, is_load: bool) -> Iterable[str]:
        """Yield the lines that occupy the channel for one beat, from the present cycle on.

        The access is the instruction `found`. The channel is free: `enter` has tested it, and each
        access begins after the previous one.
        """
        begin = _later(self.offset)
        of, last = ("external_reads", "read") if is_load else ("external_writes", "written")
        if self.counting:
            yield f"{last} = {begin}"
        if self.cutting or (self.counting and self.counts[of] == 1):
            first = "first_read" if is_load else "first_write"
            yield f"if {first} < 0: {first} = {begin}"
        after = self._accessed(self.offset)
        places = writes(found) if is_load else (LAST_STORE,)
        cycles = {f"r{place}": after for place in places} | {"free": f"t + {self.offset + 1}"}
        if self.counting:
            yield from (f"{name} = {cycle}" for name, cycle in cycles.items())
        else:
            self.pending |= cycles
