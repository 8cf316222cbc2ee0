"""Resolves the names in an expression: places, members of the focus, tensors, symbols, memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from macaw.asm.syntax import Call, Mistake, Name, Node, Number, Slice
from macaw.debugger.grammar import Every, Path
from macaw.debugger.places import Place, PlaceError, expand, kinds
from macaw.debugger.state_paths import Members
from macaw.debugger.user_values import printed_access, variable_access
from macaw.debugger.values import VIEWS, WORD, Access, AccessError, array, memory, memory_span
from macaw.emu.bfloat16 import element_type

if TYPE_CHECKING:
    from macaw.debugger.debuggee import Debuggee
    from macaw.emu.device import Device

MEMORY = "mem"
DEVICE = "device"
PC = "pc"
FOCUSED = "$"  # before a name: a member of the focus, even if a symbol has the same name

Resolution = tuple[Access, Sequence[Node]]  # an access, and the nodes of its subscripts


class NameResolver:
    """Resolves the names in one expression; the focus determines what short names mean."""

    def __init__(self, debuggee: Debuggee, focus: Sequence[Place]) -> None:
        self.focus = focus
        self.uses_focus = False  # whether a name was a member of the focus
        self.device = debuggee.device
        self.program = debuggee.program
        self.user_values = debuggee.user_values
        self.check = debuggee.interrupts.check

    def constant(self, path: Path, top: bool) -> int | None:
        """Return the value of a symbol that `path` names, or None if it names anything else.

        If `top` is true, the path is the whole expression; then the name of a tensor stands for the
        tensor's elements, and the result is None. Within a longer expression, the name stands for
        the tensor's address.
        """
        path = self._with_dots(path)
        name = path.head.text
        if path.steps or name.startswith(FOCUSED) or name in (MEMORY, DEVICE):
            return None
        tensor = self._tensor(name)
        if tensor is not None:
            # as a whole expression, a tensor is its elements
            return None if top else int(tensor.address)
        try:
            symbol = self.program.symbol(name)
        except KeyError:
            return None
        # As in a source, a constant that `.equ` has set to a negative number is negative.
        value = symbol.value
        return value - (1 << 32) if symbol.section is None and value >> 31 else value

    def element_type(self, name: str) -> np.dtype[Any] | None:
        """Return the type of a tensor's elements, or None if no tensor has this name."""
        tensor = self._tensor(name)
        return None if tensor is None else element_type(tensor.dtype)

    def path_type(self, path: Path) -> np.dtype[Any] | None:
        """Return the element type of the memory that a path names, or None if it has no type.

        The type is the one in the path (`.i16`), or else the element type of the tensor.
        """
        path = self._with_dots(path)
        for step in path.steps:
            if isinstance(step, str) and step in VIEWS:
                return VIEWS[step]
        return self.element_type(path.head.text)

    def function(self, node: Call) -> int:
        """Return the value of `sizeof(SYMBOL)`, in bytes.

        Raises `Mistake` for any other function, and if no symbol or tensor has the name SYMBOL.
        """
        if node.function == "sizeof" and len(node.arguments) == 1:
            argument = node.arguments[0]
            if isinstance(argument, Name):
                tensor = self._tensor(argument.text)
                if tensor is not None:
                    return int(tensor.size)
                try:
                    return int(self.program.symbol(argument.text).size)
                except KeyError:
                    raise Mistake(f"no symbol is called '{argument.text}'", argument) from None
        raise Mistake(
            f"there is no function '{node.function}' here",
            (node.start, node.start + len(node.function)),
        )

    def access(self, path: Path, top: bool) -> Resolution:
        """Return the object that reads and writes the value to which a path refers.

        For a path that `constant` resolves, callers do not call this method. `top` says whether the
        path is the whole expression. Raises `Mistake`.
        """
        try:
            return self._access(self._with_dots(path))
        except (AccessError, PlaceError) as error:
            raise Mistake(str(error), path) from None

    def _access(self, path: Path) -> Resolution:
        name, steps = path.head.text, path.steps
        if not name:
            whole = ".".join(["", *(step for step in steps if isinstance(step, str))])
            raise Mistake(f"nothing is called '{whole}'{self._near(whole)}", path)
        if "" in steps:
            raise Mistake("a name is needed after '.'", path)
        if name.startswith(FOCUSED):
            return self._with_dollar(name.removeprefix(FOCUSED), steps)
        if name == MEMORY:
            return self._memory(steps)
        if name in kinds(self.device):
            return self._place_path(path)
        tensor = self._tensor(name)
        if tensor is not None:
            if steps and isinstance(steps[0], str):  # a view of the same bytes as another type
                other, rest = self._view(steps)
                return self._array(
                    name, tensor.address, other, (tensor.size // other.itemsize,), rest
                )
            dtype = element_type(tensor.dtype)
            columns = self._columns(name)
            return self._array(name, tensor.address, dtype, tensor.shape, steps, columns)
        if name == DEVICE and len(steps) == 1 and steps[0] in _DEVICE:
            what = _DEVICE[str(steps[0])]
            device, cores = self.device, frozenset(self.device.cores)
            return Access(f"{DEVICE}.{steps[0]}", lambda: what(device), None, cores), ()
        symbols = {symbol.name: symbol for symbol in self.program.symbols}
        if name in symbols and steps:
            size = symbols[name].size
            dtype, rest = self._view(steps)
            return self._array(name, symbols[name].value, dtype, (size // dtype.itemsize,), rest)
        try:
            access, nodes = self._focus_member(name, steps)
            return access if steps else self._without_files(name, access), nodes
        except AccessError:
            if name in self._of_focus():
                raise
            message = f"nothing is called '{name}'{self._near(name)}"
            raise Mistake(message, path.head, self._hint_for_c()) from None

    def _with_dots(self, path: Path) -> Path:
        """Return the path for a symbol whose name contains dots, such as `conv1.weights`.

        The parser has divided this name into the head `conv1` and the member `weights`. If the
        head and the next members, joined by dots, are a symbol, the longest such name becomes the
        head. If the head alone has a meaning, or there is no such symbol, return the path
        unchanged.
        """
        name = path.head.text
        members = list(takewhile(lambda step: isinstance(step, str), path.steps))
        if not members or name in kinds(self.device) or self._is_symbol(name):
            return path
        for count in range(len(members), 0, -1):
            longer = ".".join([name, *map(str, members[:count])])
            if self._is_symbol(longer):
                return replace(path, head=replace(path.head, text=longer), steps=path.steps[count:])
        return path

    def _is_symbol(self, name: str) -> bool:
        """Return whether a symbol or a tensor has this name."""
        try:
            self.program.symbol(name)
        except KeyError:
            return self._tensor(name) is not None
        return True

    def _with_dollar(self, name: str, steps: Sequence[str | tuple[Node, ...]]) -> Resolution:
        """Resolve `$name`: a printed value, a member of the focus, or a variable."""
        access = None if steps else printed_access(self.user_values, name)
        if access is not None:
            return access, ()
        if steps or name in self._of_focus():
            access, nodes = self._focus_member(name, steps)
            return access if steps else self._without_files(f"{FOCUSED}{name}", access), nodes
        if name == PC:
            return self._next_address(), ()
        stopped = self.device.stopped
        exit_code = None if stopped is None else stopped.exit_code
        return variable_access(self.user_values, name, {"_exitcode": exit_code}), ()

    def _without_files(self, written: str, access: Access) -> Access:
        """Return `access`, which cannot write if a name is that of a file of registers.

        `written` is the name as the user wrote it, perhaps with `$`. Who uses GDB writes `set $x =
        1` for a variable of his own, and `set x = 1` for one of C.
        """
        name = written.removeprefix(FOCUSED)
        core = self.focus[0].core
        files = self.device.cores[core].table.files
        if all(file.name != name or len(file.names) == 1 for file in files):
            return access

        def refuse(_value: Any, *_indices: Any) -> None:
            raise AccessError(
                f"{written} is all registers {name} of {core}, no variable;"
                f" {core}.{name} can be set"
            )

        return replace(access, write=refuse)

    def _next_address(self) -> Access:
        """Return the access to `$pc` of a core that has no register of this name."""
        core = self.device.cores[self.focus[0].core]
        self.uses_focus = True

        def read() -> int:
            if core.next_address is None:
                raise AccessError(f"{core.name} is idle: it has no next instruction")
            return core.next_address

        return Access(f"${PC}", read, None, frozenset({core.name}))

    def _hint_for_c(self) -> str:
        """Return a hint for an unknown name, which may be a variable of C; empty without C code.

        Variables of C have no symbols that this debugger knows; only gdb can show them.
        """
        has_c = any(file.endswith((".c", ".cc", ".cpp")) for file in self.program.line_table.files)
        return "variables of C are gdb's: macaw debug --gdb PORT (docs/gdb.md)" if has_c else ""

    def _near(self, name: str) -> str:
        names = {symbol.name for symbol in self.program.symbols}
        names |= {tensor.name for tensor in self.program.tensors}
        names |= {*kinds(self.device), MEMORY, DEVICE}
        names |= self._of_focus()
        near = get_close_matches(name, sorted(names), 3)
        return f"; did you mean {' or '.join(near)}?" if near else ""

    def _of_focus(self) -> set[str]:
        """Return the names of the members and levels of the first focused place."""
        members = Members(self.device, self.focus[0])
        return {*members.names(), *members.table.levels}

    def _tensor(self, name: str) -> Any:
        tensors = (*self.program.tensors, *self.program.arrays)
        return next((item for item in tensors if item.name == name), None)

    def _columns(self, name: str) -> tuple[int, int] | None:
        """Return (first column, number of columns) of a tensor that is part of a larger one."""
        network = self.program.network
        columns = None if network is None else network.columns.get(name)
        return None if columns is None else (columns.first, columns.length)

    # Places

    def _focus_member(self, name: str, steps: Sequence[str | tuple[Node, ...]]) -> Resolution:
        levels = self.device.cores[self.focus[0].core].table.levels
        if name in levels and steps and not isinstance(steps[0], str):
            member = self._members(self._inside(steps[0], levels.index(name)), steps[1:])
        else:
            member = self._members(self.focus, (name, *steps))
        self.uses_focus = True
        return member

    def _inside(self, nodes: Sequence[Node], level: int) -> list[Place]:
        """Return units inside of the focused places, for a name without a core such as `bank[3]`.

        `nodes` are the subscripts. They follow after the core and the first `level` unit indices
        of each focused place: if the focus is pe[1,0].3 (cluster 0, PE 3 of core 1) and `level` is
        1, the results are PEs of cluster 0 of core 1.
        """
        indices = [_index(_node(node)) for node in nodes]
        units: dict[Place, None] = {}
        for place in self.focus:
            kind, index = place.kind
            outer = [*index, *place.units[:level]]
            units |= dict.fromkeys(expand(self.device, kind, [*outer, *indices], str(place)))
        return list(units)

    def _place_path(self, path: Path) -> Resolution:
        """Resolve a path that starts with a kind of core: a place, then members of the place."""
        indices: list[int | None] = []
        rest = list(path.steps)
        if rest and not isinstance(rest[0], str):
            indices += [_index(_node(node)) for node in rest.pop(0)]
        while rest and isinstance(rest[0], str) and (rest[0] == "*" or rest[0].isdecimal()):
            indices.append(None if rest[0] == "*" else int(rest[0]))
            rest.pop(0)
        while len(rest) > 1 and rest[0] in self._levels(path) and not isinstance(rest[1], str):
            indices += [_index(_node(node)) for node in rest[1]]
            rest = rest[2:]
        where = expand(self.device, path.head.text, indices, path.head.text)
        return self._members(where, rest)

    def _levels(self, path: Path) -> Sequence[str]:
        cores = kinds(self.device)[path.head.text]
        return next(iter(cores.values())).table.levels

    def _members(
        self, places: Sequence[Place], steps: Sequence[str | tuple[Node, ...]]
    ) -> Resolution:
        nodes = [node for step in steps if not isinstance(step, str) for node in step]
        shape = [step if isinstance(step, str) else len(step) for step in steps]
        if not shape:
            raise AccessError(
                f"{places[0]} is a place; name something of it: "
                + ", ".join(Members(self.device, places[0]).names()[:8])
                + " ..."
            )
        if len(places) == 1:
            return Members(self.device, places[0]).find(shape), nodes
        accesses: list[Access] = []
        for place in places:
            self.check()
            accesses.append(Members(self.device, place).find(shape))
        return _together(accesses, _read_at_once(self.device, places, shape)), nodes

    # Memory

    def _memory(self, steps: Sequence[str | tuple[Node, ...]]) -> Resolution:
        if not steps or isinstance(steps[0], str) or len(steps[0]) != 1:
            raise AccessError(f"memory is looked at by an address: {MEMORY}[0x80000000].u8")
        address = steps[0][0]
        if isinstance(address, Slice | Every):
            raise AccessError(f"memory is looked at by one address: {MEMORY}[0x80000000].u8")
        dtype, rest = self._view(steps[1:])
        if len(rest) > 1 or (rest and (isinstance(rest[0], str) or len(rest[0]) != 1)):
            raise AccessError(f"after {MEMORY}[] come a type and an index, no more")
        if rest and isinstance(rest[0][0], Slice):
            return memory_span(self.device, f"{MEMORY}[]", dtype), (address, rest[0][0])
        more = [] if not rest else [rest[0][0]]
        return memory(self.device, f"{MEMORY}[]", dtype), (address, *map(_node, more))

    def _view(
        self, steps: Sequence[str | tuple[Node, ...]]
    ) -> tuple[np.dtype[Any], Sequence[str | tuple[Node, ...]]]:
        """Return the type that the first step names (`i16`), and the steps after it.

        If there is no step, or the first step is subscripts, return the type of a 32-bit word and
        all steps. Raises `AccessError` for a name that is no type.
        """
        if steps and isinstance(steps[0], str):
            if steps[0] not in VIEWS:
                raise AccessError(f"'{steps[0]}' is no type, there are {', '.join(VIEWS)}")
            return VIEWS[steps[0]], steps[1:]
        return WORD, steps

    def _array(
        self,
        name: str,
        address: int,
        dtype: np.dtype[Any],
        shape: tuple[int, ...],
        steps: Sequence[str | tuple[Node, ...]],
        columns: tuple[int, int] | None = None,
    ) -> Resolution:
        if len(steps) > 1 or (steps and isinstance(steps[0], str)):
            raise AccessError(f"after {name} come subscripts, no more")
        nodes = [_node(node) for step in steps for node in step]
        if len(nodes) > max(1, len(shape)):
            raise AccessError(f"{name} has {len(shape)} dimensions")
        return array(self.device, name, address, dtype, shape, len(nodes), columns), nodes


def _cycle(device: Device) -> int:
    return device.cycle


_DEVICE = {"cycle": _cycle}


def _node(item: str | Node) -> Node:
    assert isinstance(item, Node)
    return item


def _index(node: Node) -> int | None:
    """Return the index of a place from a constant subscript, or None for `*`. Raises `Mistake`."""
    if isinstance(node, Every):
        return None
    if isinstance(node, Number) and node.value >= 0:
        return node.value
    raise Mistake("a place has numbers or * in its brackets", node)


def _read_at_once(
    device: Device, places: Sequence[Place], steps: Sequence[str | int]
) -> Callable[[], Any] | None:
    """Return a function that reads a value for each place, with one array access for each core.

    `steps` are the steps of the path after the place.

    The result is None if a core does not have these values in one array.
    """
    cores: dict[str, list[tuple[int, ...]]] = {}
    for place in places:
        cores.setdefault(place.core, []).append(place.units)
    sources = []
    for name, units in cores.items():
        source = Members(device, Place(name, units[0])).source(steps)
        if source is None or len({len(item) for item in units}) > 1:
            return None
        row, behind = source
        index = (*(np.array(axis) for axis in zip(*units, strict=True)), *behind)
        sources.append((device.cores[name], row.name, index))

    def read() -> Any:
        parts = []
        for core, name, index in sources:
            core.sync()
            parts.append(getattr(core.state, name)[index])
        return np.concatenate(parts)

    return read


def _together(accesses: Sequence[Access], at_once: Callable[[], Any] | None) -> Access:
    """Return one access for several values; reading it returns an array of all of them.

    If `at_once` is given, it is a faster function that reads all values together.
    """
    writes = [access.write for access in accesses]

    def read(*indices: Any) -> Any:
        if at_once is not None and not indices:
            return at_once()
        values = [access.read(*indices) for access in accesses]
        try:
            return np.array(values)
        except ValueError:  # lists of different lengths
            raise AccessError("the units have different numbers of values: name one unit") from None

    def write(value: Any, *indices: Any) -> None:
        for put in writes:
            assert put is not None
            put(value, *indices)

    none: frozenset[Any] = frozenset()
    cores = none.union(*(access.cores for access in accesses))
    registers = none.union(*(access.registers for access in accesses))
    queues = none.union(*(access.queues for access in accesses))
    put = None if None in writes else write
    dtypes = {access.dtype for access in accesses}
    dtype = dtypes.pop() if len(dtypes) == 1 else None
    return Access(
        accesses[0].text, read, put, cores, dtype=dtype, registers=registers, queues=queues
    )
