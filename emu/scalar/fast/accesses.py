"""Writes the Python text of loads and stores in translated code, with few tests of addresses.

A block is code that is translated to one Python function; its accesses are to one memory. Accesses
with the same base register form a group if no instruction between them writes this register. The
first access of a group tests the base for the whole group: that all accesses are inside the memory
and aligned, and that no store writes a word that `Pages` watches or a page not yet marked as
written. If a test fails, the function ends before the first access, which the interpreter executes.
A group with stores has a window: a range of the base in which all its accesses have passed the
tests.

If all passes of a loop take the same time, and a pass changes the base by a constant, the tests are
not part of each pass. They come before a pass, and find out for how many passes from this one on
the base stays in the window.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from macaw.emu.pages import PAGE, SHARED, SHIFT, WRITTEN, Pages
from macaw.emu.scalar.fast.inlining import Spans, indent_lines, name_for
from macaw.emu.scalar.fast.loops import Steps, Value, added
from macaw.emu.scalar.fast.passes import Walk
from macaw.emu.scalar.runs import ENDS
from macaw.emu.scalar.semantics import LOADS, MASK, SIGN, STORES
from macaw.isa.codec import Decoded
from macaw.isa.typed_records import NamedTuple

Leave = Callable[[], list[str]]  # returns the lines that end the function


class Access(NamedTuple):
    """A load or store of a block.

    `place` is the index of its instruction in the block, `register` the number of the base
    register. The first byte is `immediate` bytes after the base. `stores` says whether it is a
    store.
    """

    place: int
    register: int
    immediate: int
    size: int
    stores: bool

    @property
    def is_odd(self) -> bool:
        """Whether `immediate` is no multiple of `size`.

        The address of such an access is aligned only if the base is not aligned.
        """
        return self.immediate % self.size != 0


class Group(NamedTuple):
    """Accesses whose base is the same register, which does not change between them."""

    number: int  # the index of the group in its block
    accesses: tuple[Access, ...]

    @property
    def register(self) -> int:
        """The number of the base register."""
        return self.accesses[0].register

    @property
    def place(self) -> int:
        """The index of the first access's instruction in the block."""
        return self.accesses[0].place

    @property
    def stores(self) -> tuple[Access, ...]:
        """The stores of the group, but only one of those stores that write the same bytes."""
        kinds = {(x.immediate, x.size): x for x in self.accesses if x.stores}
        return tuple(kinds.values())

    @property
    def align(self) -> int:
        """The size in bytes of the group's largest access.

        The test for alignment uses this size for the whole group, also for smaller accesses.
        """
        return max(access.size for access in self.accesses)


def size_of(found: Decoded) -> int | None:
    """Return the size in bytes of an access by a general register; None for another instruction."""
    mnemonic = found.row.mnemonic
    return LOADS[mnemonic][0] if mnemonic in LOADS else STORES.get(mnemonic)


def find_groups(
    instructions: Sequence[Decoded],
    sizes: Sequence[int | None],
    written: Sequence[Sequence[int]],
) -> list[Group]:
    """Return the groups of a block, in the order of their first accesses.

    A group has accesses with the same base register, without a write to this register or a branch
    between them. An access for which `is_odd` is true forms a group alone. `sizes` has the bytes
    that each instruction accesses, None for no access; `written` has the general registers that
    each instruction writes.
    """
    groups: list[list[Access]] = []
    present: dict[int, list[Access]] = {}  # by base: its group so far
    for place, (found, size) in enumerate(zip(instructions, sizes, strict=True)):
        if size is not None:
            register, immediate = found.values["rs1"], found.values["imm"]
            stores = "memory" in found.row.writes.split()
            access = Access(place, register, immediate, size, stores)
            if access.is_odd or register not in present or present[register][0].is_odd:
                present[register] = []
                groups.append(present[register])
            present[register].append(access)
        if found.row.family in ENDS:
            present.clear()
        for register in written[place]:
            present.pop(register, None)
    return [Group(number, tuple(accesses)) for number, accesses in enumerate(groups)]


def find_window(pages: Pages, group: Group, least: int, most: int, at: int) -> tuple[int, int]:
    """Return a range of distances around `at` for which the accesses of a group pass all tests.

    A distance is the number of bytes from the start of the memory to the group's base. The result
    is (first distance, distance after the last one). For the distances from `least` to `most`, the
    accesses are inside the memory; `at` is one of them, and aligned. If a store of the group needs
    a call of `Pages.touch` at the distance `at`, the range is empty.
    """
    low, high = least, most + 1
    for store in group.stores:
        first, until = pages.plain_range(at + store.immediate)
        low = max(low, first - store.immediate)
        high = min(high, until - store.immediate - store.size + 1)
    return low, max(low, high)


class AccessWriter:
    """Writes the text of the loads and stores with which a block accesses one memory.

    `pages` is this memory, and `base` is its first address.
    """

    def __init__(
        self, pages: Pages, base: int, groups: Sequence[Group], names: dict[str, Any]
    ) -> None:
        self.pages, self.base, self.names = pages, base, names
        self._groups = {access.place: group for group in groups for access in group.accesses}
        self._access = {access.place: access for group in groups for access in group.accesses}
        # the variables that are 0 when the function begins; the windows are then empty
        self.variables = [
            f"{name}{group.number}" for group in groups if group.stores for name in ("low", "high")
        ]
        # the groups that are tested before several passes, and the changes of their bases
        self._ahead: list[tuple[Group, int, int]] = []
        self._followed: set[int] = set()  # the bases of these groups

    def look_ahead(self, steps: Steps, steady: int) -> None:
        """Let `head` test accesses for several passes of the loop at once, where this is possible.

        Then the passes need no tests of their own. This is possible for a group of accesses if each
        pass changes the group's base by a constant that keeps the alignment. `steps` are the
        changes of registers in each pass, and a pass takes `steady` cycles.
        """
        self.steady = steady
        for group in dict.fromkeys(self._groups.values()):
            step = steps.of(group.register, group.place)
            if step is not None and step.by % group.align == 0:
                self._ahead.append((group, *step))
        self._followed = {group.register for group, _, _ in self._ahead}
        if self._ahead:
            self.variables.append("near")

    def walks(self, value_of: Callable[[int, int], Value | None]) -> list[Walk] | None:
        """Return a `Walk` for each group of accesses: its bytes, and by how much a pass moves them.

        The result is None if the base of a group neither is the same in each pass nor changes by a
        constant. `value_of(register, place)` returns the value of a register before the instruction
        with index `place`; None if the value is not the same in each pass.
        """
        walks = []
        ahead = {group: (by, before) for group, by, before in self._ahead}
        for group in dict.fromkeys(self._groups.values()):
            register, (by, before) = group.register, ahead.get(group, (0, 0))
            if group not in ahead:
                value = value_of(register, group.place)
                if value is None:
                    return None
                register, before = value
            low, high = _extent(group.accesses)
            walks.append(Walk(register, (before + low, before + high), by))
        return walks

    def head(self, leave: Leave) -> list[str]:
        """Return the lines before each pass: they test for the limit, and test accesses.

        If the block's time `t` has reached the variable `bound`, the limit for the start of a pass,
        the lines of `leave` end the function. If `t` has reached `near`, the lines test the
        accesses of further passes, and set `near` to the time up to which these accesses are
        tested.
        """
        bound = ["if t >= bound:", *indent_lines(leave())]
        if not self._ahead:
            return bound
        lines, ends = list(bound), ["bound"]
        if self.base:
            for register in sorted(self._followed):
                lines.append(f"at_x{register} = {_register(register)} - {self.base:#x}")
        for group, by, before in self._ahead:
            at = _sum(self._at(group), before)
            lines += self._test(group, at, leave)
            least, most = self._limits(group)
            low, high = str(least), str(most + 1)
            if group.stores:
                low, high = f"low{group.number}", f"high{group.number}"
            if by > 0:
                ends.append(f"t + (({high} - 1 - ({at})) // {by} + 1) * {self.steady}")
            elif by < 0:
                ends.append(f"t + (({at} - {low}) // {-by} + 1) * {self.steady}")
        if len(ends) > 1:  # many loops end after one pass: compute the end only before the second
            lines.append(f"near = min({', '.join(ends)}) if near else t + {self.steady}")
        else:
            lines.append("near = bound")
        return ["if t >= near:", *indent_lines(lines)]

    def test(self, place: int, spans: Spans, leave: Leave) -> Iterable[str]:
        """Yield the lines that test a group's accesses, before the instruction at `place`.

        There are no lines unless the instruction is the first access of a group that `head` does
        not test. The lines of `leave` end the function if a test fails. `spans` gets the range of
        values that the base has if the test succeeds.
        """
        group = self._groups.get(place)
        if group is None or group.place != place:
            return
        if not any(group is other for other, _, _ in self._ahead):
            at = self._at(group)
            if self.base:
                yield f"{at} = {_register(group.register)} - {self.base:#x}"
            yield from self._test(group, at, leave)
        least, most = self._limits(group)
        spans[_register(group.register)] = max(0, self.base + least), self.base + most

    def after(self, found: Decoded) -> Iterable[str]:
        """Yield the lines after an instruction that adds a constant to a base register of accesses.

        They add the constant to the variable with the distance from the memory's start to the base.
        """
        by = added(found)
        if self.base and by is not None and found.values["rd"] in self._followed:
            at = f"at_x{found.values['rd']}"
            yield f"{at} = {_sum(at, by)}"

    def _test(self, group: Group, at: str, leave: Leave) -> Iterable[str]:
        """Yield the lines that test whether all accesses of a group can be done.

        `at` is the distance from the memory's start to the group's base, as text. The lines of
        `leave` end the function if a test fails.
        """
        least, most = self._limits(group)
        outside = f"{at} > {most}"
        if self.base or least > 0:
            outside = f"{at} < {least} or {outside}"
        align, first = group.align, group.accesses[0]
        aligned = ""
        if align > 1:
            odd = first.immediate % align if first.is_odd else 0
            aligned = f" or {_sum(at, odd)} & {align - 1}"
        if not group.stores:
            yield f"if {outside}{aligned}:"
            yield from indent_lines(leave())
            return
        low, high = f"low{group.number}", f"high{group.number}"
        yield f"if {at} < {low} or {at} >= {high}{aligned}:"
        yield f"    if {outside}{aligned}:"
        yield from indent_lines(indent_lines(leave()))
        yield from indent_lines(self._set_window(group, at, leave))

    def _set_window(self, group: Group, at: str, leave: Leave) -> Iterable[str]:
        """Yield the lines that set the window of a group with stores around its base.

        `at` is the distance from the memory's start to the base, as text. If the window would be
        empty, the lines of `leave` end the function.
        """
        first, until = _extent(group.stores)
        low, high = f"low{group.number}", f"high{group.number}"
        begin, end = f"(page << {SHIFT}) - {first}", f"(page << {SHIFT}) + {PAGE + 1 - until}"
        least, most = limits = self._limits(group)
        if least > -first or most < self.pages.size - until or self.pages.size % PAGE:
            begin, end = f"max({begin}, {least})", f"min({end}, {most + 1})"
        marks = name_for(self.names, "marks", self.pages.marks)
        self.names[f"window{group.number}"] = partial(find_window, self.pages, group, *limits)
        is_one_page = f" and {_sum(at, until - 1)} >> {SHIFT} == page"
        if len(group.stores) == 1:
            is_one_page = ""
        yield f"page = {_sum(at, first)} >> {SHIFT}"
        yield f"if {marks}[page] == {WRITTEN}{is_one_page}:"
        yield f"    {low} = {begin}"
        yield f"    {high} = {end}"
        # Many functions are left before the base changes: the first window beside code is short.
        watched = name_for(self.names, "watched", self.pages.watched)
        words = " or ".join(_words(watched, at, store) for store in group.stores)
        yield f"elif not {high} and {marks}[page] == {SHARED}{is_one_page} and not ({words}):"
        yield f"    {low} = {at}"
        yield f"    {high} = {at} + 1"
        yield "else:"
        yield f"    {low}, {high} = window{group.number}({at})"
        yield f"    if {at} >= {high}:"
        yield from indent_lines(indent_lines(leave()))

    def load(self, found: Decoded, spans: Spans, place: int) -> str:
        """Return the line of the load `found` into a general register.

        `place` is the index of the load in the block. `spans` has the known ranges of registers,
        and gets the range of the loaded number.
        """
        size, signed = LOADS[found.row.mnemonic]
        value, to = self._element(place), f"x{found.values['rd']}"
        spans.pop(to, None)
        if signed:
            sign = SIGN >> 32 - 8 * size
            value = f"({value} ^ {sign}) - {sign} & {MASK}"
        else:
            spans[to] = 0, (1 << 8 * size) - 1
        return f"{to if found.values['rd'] else 'sink'} = {value}"

    def store(self, found: Decoded, spans: Spans, place: int) -> str:
        """Return the line of the store `found` of a general register.

        `place` is the index of the store in the block, `spans` has the known ranges of registers.
        """
        source, most = _register(found.values["rs2"]), (1 << 8 * self._access[place].size) - 1
        masked = "" if spans.of(source)[1] <= most else f" & {most:#x}"
        return f"{self._element(place)} = {source}{masked}"

    def row(self, place: int) -> str:
        """Return an expression for the bytes in memory of the vector access at index `place`."""
        access, at = self._access[place], self._at(self._groups[place])
        data = name_for(self.names, "data", self.pages.bytes)
        end = _sum(at, access.immediate + access.size)
        return f"{data}[{_sum(at, access.immediate)}:{end}]"

    def _element(self, place: int) -> str:
        """Return an expression for the byte, halfword or word in memory of the access at index
        `place`.
        """
        access, pages = self._access[place], self.pages
        at = _sum(self._at(self._groups[place]), access.immediate)
        if access.size == 1:
            return f"{name_for(self.names, 'data', pages.bytes)}[{at}]"
        if access.size == 2:
            return f"{name_for(self.names, 'halves', pages.halves)}[{at} >> 1]"
        return f"{name_for(self.names, 'words', pages.words)}[{at} >> 2]"

    def _limits(self, group: Group) -> tuple[int, int]:
        """Return the least and the greatest base of a group, as distances from the memory's start.

        With a base between these limits, all accesses of the group are inside the memory. If each
        pass decreases the base, the lower limit also ensures that the register stays 0 or more.
        """
        begin, end = _extent(group.accesses)
        by = min([0, *(step for other, step, _ in self._ahead if other is group)])
        return max(-begin, -by - self.base), self.pages.size - end

    def _at(self, group: Group) -> str:
        """Return the variable with the distance from the memory's start to the base of a group."""
        if not self.base:
            return _register(group.register)
        if any(group is other for other, _, _ in self._ahead):
            return f"at_x{group.register}"
        return f"at{group.number}"


def _extent(accesses: Iterable[Access]) -> tuple[int, int]:
    """Return the range of bytes that `accesses` use: (first byte, byte after the last one).

    The bytes are counted from the base.
    """
    known = list(accesses)
    return min(x.immediate for x in known), max(x.immediate + x.size for x in known)


def _words(watched: str, at: str, store: Access) -> str:
    """Return an expression that is true if `store` would change a word that is watched.

    `watched` is the name of the array with a mark for each word, `at` the distance from the
    memory's start to the base, as text.
    """
    first = _sum(at, store.immediate)
    if store.size <= 4:
        return f"{watched}[{first} >> 2]"
    return f"any({watched}[{first} >> 2:({first} >> 2) + {store.size // 4}])"


def _register(number: int) -> str:
    return f"x{number}" if number else "0"


def _sum(text: str, number: int) -> str:
    """Return the text of the sum of `text` and `number`; `text` itself if `number` is 0."""
    return f"{text} {'-' if number < 0 else '+'} {abs(number)}" if number else text
