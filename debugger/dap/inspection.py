"""Shows values in an editor as text: the scopes of a frame, and variables with children."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from macaw.debugger.commands.formats import Format, format_value
from macaw.debugger.commands.line import CommandError
from macaw.debugger.commands.operands import display_value, element_type, symbol_at
from macaw.debugger.commands.text import BRIEF, brief, value_text
from macaw.debugger.counters import counter_units, read_counters
from macaw.debugger.dap.connection import RequestError
from macaw.debugger.dap.variables import (
    COUNTERS,
    QUEUES,
    REGISTERS,
    TENSORS,
    UNIT,
    UNITS,
    VALUE,
    Container,
    Item,
    References,
)
from macaw.debugger.expressions import Expression, ExpressionError
from macaw.debugger.frame import visible
from macaw.debugger.places import Place, PlaceError, counts
from macaw.debugger.state_paths import Members
from macaw.debugger.stops import SessionError
from macaw.debugger.values import AccessError, type_text

if TYPE_CHECKING:
    from macaw.debugger.session import Session
    from macaw.emu.core import Core

# the greatest number of variables in one response; an editor requests arrays in parts
MOST_CHILDREN = 1000
ADDRESS = 1 << 16  # a number that is not in memory is from here on also shown as an address
MOST_TEXT = 4000  # the greatest number of characters of a value
_ERRORS = (ExpressionError, PlaceError, SessionError, AccessError, CommandError)
_SCOPES = {REGISTERS: "Registers", TENSORS: "Tensors", QUEUES: "Queues", COUNTERS: "Counters"}


class Inspection:
    """The values of a session in the form in which an editor shows them."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.references = References()

    # Scopes and children

    def scopes(self, core: Core) -> list[dict[str, Any]]:
        """Return the scopes of a frame of a core: registers, tensors, queues, counters, units."""
        place = self.place(core)
        kinds = dict(_SCOPES)
        if not core.table.queues:
            del kinds[QUEUES]
        if not self._tensors():
            del kinds[TENSORS]
        if counts(core):
            kinds[UNITS] = "Units"
        scopes = []
        for kind, name in kinds.items():
            where = Place(core.name) if kind in (COUNTERS, UNITS) else place
            container = Container(kind, where)
            scopes.append({
                "name": name, "variablesReference": self.references.number(container),
                "namedVariables": len(self.items(container)), "expensive": False,
                **({"presentationHint": "registers"} if kind == REGISTERS else {}),
            })  # fmt: skip
        return scopes

    def place(self, core: Core) -> Place:
        """Return the first focused place in `core`; if no place there is focused, `core` itself."""
        return next((x for x in self.session.focus if x.core == core.name), Place(core.name))

    def _tensors(self) -> list[str]:
        program = self.session.program
        return list(dict.fromkeys(x.name for x in (*program.tensors, *program.arrays)))

    def items(self, container: Container) -> Sequence[Item]:
        """Return the children of a scope or a value. Raises `RequestError`."""
        place, device = container.place, self.session.device
        core = device.cores[place.core]
        if container.kind == REGISTERS:
            members = Members(device, place)
            names = [names[0] for file in members.table.files for names in file.names]
            own = [] if core.next_address is None else ["pc"]
            return [_item(place, name, name if name == "pc" else f"{place}.{name}")
                    for name in (*own, *names)]  # fmt: skip
        if container.kind == TENSORS:
            return [_item(place, name, name) for name in self._tensors()]
        if container.kind == QUEUES:
            queues = Members(device, place).table.queues
            return [_item(place, x.name, f"{place}.{x.name}") for x in queues]
        if container.kind == COUNTERS:
            return [Item(name, Container(COUNTERS, place, f"{place}.{name}"), number)
                    for name, number in read_counters(device)[core.name].items()]  # fmt: skip
        if container.kind in (UNITS, UNIT):
            return self._units(container, core)
        return self._elements(container)

    def _units(self, container: Container, core: Core) -> list[Item]:
        place, levels = container.place, counts(core)
        items = []
        if container.kind == UNIT:
            items = [Item(_SCOPES[kind], Container(kind, place)) for kind in (REGISTERS, QUEUES)
                     if kind == REGISTERS or core.table.queues]  # fmt: skip
        if len(place.units) < len(levels):
            units = [
                Place(place.core, (*place.units, at)) for at in range(levels[len(place.units)])
            ]
            items += [Item(str(unit), Container(UNIT, unit)) for unit in units]
        return items

    def _elements(self, container: Container) -> list[Item]:
        value = self.value(container)
        if isinstance(value, Mapping):
            keys: Sequence[int | str] = [str(key) for key in value]
        else:
            keys = range(len(value)) if _has_elements(value) else ()
        return [Item(f"[{key}]" if isinstance(key, int) else key, _inside(container, key))
                for key in keys]  # fmt: skip

    def children(
        self, number: int, first: int, most: int, wanted: str, is_hexadecimal: bool
    ) -> list[dict[str, Any]]:
        """Return at most `most` children of container number `number`, in the protocol's form.

        The first child has the index `first`. There are never more than `MOST_CHILDREN` children;
        if `most` is 0, there is no other limit. `wanted` is "indexed" or "named"; any other text
        selects both. Raises `RequestError`.
        """
        container = self.references.get(number)
        items = self.items(container)
        is_indexed = bool(items) and items[0].name.startswith("[")
        if wanted in ("indexed", "named") and (wanted == "indexed") != is_indexed:
            return []
        chosen = items[first : first + min(most or MOST_CHILDREN, MOST_CHILDREN)]
        return [self._variable(item, is_hexadecimal) for item in chosen]

    def _variable(self, item: Item, is_hexadecimal: bool) -> dict[str, Any]:
        container = item.container
        if container.kind not in (VALUE, COUNTERS):
            number = self.references.number(container)
            return {"name": item.name, "value": "", "variablesReference": number}
        if container.kind == COUNTERS:
            units = counter_units(self.session.device.cores[container.place.core])
            text = _number_text(item.number, is_hexadecimal)
            return {"name": item.name, "value": text, "type": units.get(item.name, ""),
                    "evaluateName": container.text, "variablesReference": 0,
                    "presentationHint": {"attributes": ["readOnly"]}}  # fmt: skip
        try:
            record = self.record(container, is_hexadecimal)
        except (RequestError, *_ERRORS) as error:
            record = {"value": f"({error})", "variablesReference": 0}
        name = self.name(container)
        return {"name": item.name, **record, **({"evaluateName": name} if name else {})}

    # Values

    def value(self, container: Container) -> Any:
        """Return the value to which `container` refers. Raises `RequestError`."""
        if container.text == "pc" and not container.path:
            return self.session.device.cores[container.place.core].next_address
        try:
            expression = self.session.expression(container.text, (container.place,))
            value = display_value(self.session, expression)
            for key in container.path:
                value = value[key]
        except _ERRORS as error:
            raise RequestError(str(error)) from None
        except (IndexError, KeyError, TypeError):
            raise RequestError(f"{container.text} has no such element") from None
        return value.item() if isinstance(value, np.generic) else value

    def record(self, container: Container, is_hexadecimal: bool) -> dict[str, Any]:
        """Return a container's value, type and number of children, in the protocol's form.

        If `is_hexadecimal` is true, numbers are hexadecimal.
        """
        value, expression = self.value(container), self._expression(container)
        address = None if expression is None else _address(expression)
        dtype = None if expression is None else element_type(expression)
        is_pointer = address is None and isinstance(value, int) and ADDRESS <= value < 1 << 32
        text = self._text_of(container, value, is_hexadecimal, dtype)
        if is_pointer:
            address = value
            text = text if container.text == "pc" else self._pointer(value, text, is_hexadecimal)
        record: dict[str, Any] = {"value": text, "type": "", "variablesReference": 0}
        record["type"] = _type(value, dtype)
        if _has_elements(value) and len(value):
            record["variablesReference"] = self.references.number(container)
            kind = "namedVariables" if isinstance(value, Mapping) else "indexedVariables"
            record[kind] = len(value)
        return record if address is None else {**record, "memoryReference": f"{address:#010x}"}

    def _text_of(
        self, container: Container, value: Any, is_hexadecimal: bool, dtype: np.dtype[Any] | None
    ) -> str:
        if container.text == "pc" and isinstance(value, int):
            return f"{value:#010x}"
        return self.text(value, is_hexadecimal, dtype)

    def _pointer(self, value: int, text: str, is_hexadecimal: bool) -> str:
        """Return the number `value` as text and in hexadecimal, with the symbol at this address.

        `text` is the number as text, in hexadecimal if `is_hexadecimal` is true. Without a symbol
        at or before the address, the result has only the number.
        """
        symbol = self._symbol(value)
        number = text if is_hexadecimal else f"{text}  {value:#010x}"
        return f"{number} <{symbol}>" if symbol else number

    def _expression(self, container: Container) -> Expression | None:
        """Return a compiled expression for the value of `container`; None if there is none."""
        text = self.name(container)
        if text in ("", "pc"):
            return None
        try:
            return self.session.expression(text, (container.place,))
        except _ERRORS:
            return None

    def name(self, container: Container) -> str:
        """Return the text of an expression for the value of `container`; empty if there is none."""
        if not container.path:
            return container.text
        if not all(isinstance(key, int) for key in container.path):
            return ""
        try:
            expression = self.session.expression(container.text, (container.place,))
        except _ERRORS:
            return ""
        if expression.target is None or expression.target[0].queues:
            return ""
        if container.text.rstrip().endswith(")"):  # no subscript follows a parenthesis
            return ""
        return f"{container.text}[{', '.join(map(str, container.path))}]"

    def text(self, value: Any, is_hexadecimal: bool, dtype: np.dtype[Any] | None = None) -> str:
        """Return a value as one line of text.

        `dtype` is the type of its elements in the device, if known.
        """
        form = Format(letter="x" if is_hexadecimal else "")
        if isinstance(value, np.ndarray):
            if is_hexadecimal:
                with suppress(CommandError):  # real numbers have no hexadecimal form
                    first = value.reshape(-1)[: BRIEF + 1]
                    value = np.array(format_value(first, form, self._symbol, dtype), dtype=object)
            text = brief(value)
        else:
            try:
                text = value_text(format_value(value, form, self._symbol, dtype))
            except CommandError:
                text = value_text(value)
        return visible(text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT - 4]} ...")

    def full_text(self, value: Any) -> str:
        """Return a value as text with all the elements that the command `print` would show."""
        try:
            return value_text(format_value(value, Format(), self._symbol))
        except CommandError:
            return self.text(value, is_hexadecimal=False)

    def _symbol(self, address: int) -> str:
        return symbol_at(self.session, address)

    def assign(self, place: Place, text: str, value: str) -> None:
        """Assign the value of the expression `value` to what the expression `text` denotes.

        Short names in both expressions refer to `place`. Raises `RequestError`.
        """
        session = self.session
        if not text:
            raise RequestError("this value cannot be set")
        try:
            with session.focused(str(place)):
                if text == "pc":
                    session.write_register(place.core, "pc", 0, int(session.read(value)))
                else:
                    session.set(text, value)
        except (*_ERRORS, ValueError, TypeError) as error:
            raise RequestError(str(error)) from None


def _item(place: Place, name: str, text: str) -> Item:
    return Item(name, Container(VALUE, place, text))


def _address(expression: Expression) -> int | None:
    """Return the address of what an expression denotes; None if it is not in memory."""
    if expression.target is None:
        return None
    access, indices = expression.target
    try:
        return None if access.extent is None else access.extent(*indices())[0]
    except _ERRORS:
        return None


def _type(value: Any, dtype: np.dtype[Any] | None) -> str:
    """Return the name of a value's type; `dtype` is the type of its elements in the device."""
    if not isinstance(value, np.ndarray):
        return "" if value is None else type(value).__name__
    return f"{type_text(value, dtype)}{list(value.shape)}"


def _inside(container: Container, key: int | str) -> Container:
    return Container(VALUE, container.place, container.text, (*container.path, key))


def _has_elements(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, list | tuple | Mapping)


def _number_text(value: int | None, is_hexadecimal: bool) -> str:
    return f"{value:#x}" if is_hexadecimal and value is not None else value_text(value)
