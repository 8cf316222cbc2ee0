"""Checks whether a point is possible on a device, and finds the addresses of breakpoints.

A breakpoint at an address becomes a break of the cores that execute the code at this address
(`macaw.emu.breaks`). Fast engines run up to a break at full speed, and test conditions over
registers inside translated code.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from macaw.debugger.dprintf import check_format, compile_value
from macaw.debugger.events import LAYER, event_of
from macaw.debugger.expressions import ExpressionError, compile_expression
from macaw.debugger.locations import LocationError, Target, locate, targets
from macaw.debugger.places import Place, PlaceError, places
from macaw.debugger.point import BREAKS, KINDS, WATCHES, Point, PointError
from macaw.debugger.state_events import state_event_of
from macaw.emu.breaks import Breakable

if TYPE_CHECKING:
    from macaw.debugger.debuggee import Debuggee
    from macaw.emu.core import Core


def check_point(debuggee: Debuggee, point: Point) -> None:
    """Raise `PointError` unless all texts of a point have a meaning on the device.

    Also set the text and the addresses of a breakpoint, the addresses of the event `layer`, and the
    focus of a watch.
    """
    device = debuggee.device
    try:
        if point.kind not in KINDS:
            raise PointError(f"there is no point of the kind {point.kind}")
        if point.kind == "dprintf":
            check_format(point.form, len(point.values))
        if point.kind in BREAKS:
            # located only once, because the meaning of a line depends on the focus
            if not point.addresses:
                location = locate(debuggee, point.text)
                point.text, point.addresses = location.text, location.addresses
        elif point.kind in WATCHES:
            _check_watch(debuggee, point)
        else:
            _check_event(debuggee, point)
        for text in (point.by, point.place):
            if text:
                places(device, text)
        if point.kind in BREAKS and point.place:
            _check_place(debuggee, point)
        if point.kind == "catch" and point.condition:
            _check_condition(debuggee, point)
        for core in point_cores(debuggee, point):
            focus = (Place(core.name),)
            if point.condition:
                compile_expression(debuggee, point.condition, focus)
            for text in point.values:
                compile_value(debuggee, text, focus)
    except (LocationError, ExpressionError, PlaceError) as error:
        raise PointError(str(error)) from None


def point_targets(debuggee: Debuggee, point: Point) -> list[Target]:
    """Return the cores and addresses at which a breakpoint stops.

    If the breakpoint has a `place`, only cores of that place are returned.
    """
    everywhere = [x for address in point.addresses for x in targets(debuggee, address)]
    if not point.place:
        return everywhere
    names = {place.core for place in places(debuggee.device, point.place)}
    return [target for target in everywhere if target.core.name in names]


def point_cores(debuggee: Debuggee, point: Point) -> list[Core]:
    """Return the cores that a breakpoint stops, without repetition."""
    return list({x.core.name: x.core for x in point_targets(debuggee, point)}.values())


def _check_condition(debuggee: Debuggee, point: Point) -> None:
    """Raise `ExpressionError` if no place can evaluate the condition of a caught event.

    The places are those to which the user has limited the event, or all cores of the device if the
    event is not limited. One place at which all names of the condition have a meaning is enough.
    """
    device = debuggee.device
    where = places(device, point.place) if point.place else ()
    viewpoints = where or tuple(Place(core.name) for core in device.order)
    for place in viewpoints:
        with contextlib.suppress(ExpressionError):
            compile_expression(debuggee, point.condition, (place,))
            return
    compile_expression(debuggee, point.condition, viewpoints[:1])


def _check_event(debuggee: Debuggee, point: Point) -> None:
    """Raise `PointError` if an event can never happen at one of the point's places.

    Also set the addresses of the event `layer`.
    """
    device = debuggee.device
    event = event_of(device, point.text)
    if event is LAYER:
        if debuggee.program.network is None:
            raise PointError("the program has no layers: it is no compiled network")
        entries = debuggee.program.layer_entries.items()
        layers = len(debuggee.program.network.layers)
        point.addresses = tuple(address for address, number in entries if number < layers)
        if point.place:
            _check_place(debuggee, point)
        return
    where = places(device, point.place) if point.place else ()
    for core in (device.cores[name] for name in dict.fromkeys(x.core for x in where)):
        if event.announced and event not in core.table.events:
            kinds = {x.table.name: x.table.title for x in device.order if event in x.table.events}
            does = " and ".join(f"{name} ({title})" for name, title in kinds.items())
            raise PointError(f"{event.name} happens on {does}, never on {core.name}")
        change = state_event_of(event.name, device, core, [])
        if change is not None and change.missing:
            raise PointError(f"{core.name} has no {change.missing}, so {event.name} never happens")


def _check_place(debuggee: Debuggee, point: Point) -> None:
    """Raise `PointError` if no core of a breakpoint's places executes code at its addresses.

    Also raise it for a place that is a unit of a core which stops only as a whole.
    """
    cores = point_cores(debuggee, point)
    if not cores:
        raise PointError(f"{point.place} executes nothing at {point.text}")
    for place in places(debuggee.device, point.place):
        if place.units and any(
            core.name == place.core and isinstance(core, Breakable) for core in cores
        ):
            raise PointError(f"{place.core} stops as a whole, not at {place} alone")


def _check_watch(debuggee: Debuggee, point: Point) -> None:
    """Raise `PointError` for a watch that can never stop a run.

    This is a watch of a constant, or a watch of reads or accesses to anything but memory, registers
    and queues, because nothing reports such accesses. Also set the watch's focus if its expression
    or condition uses the focus.
    """
    focus = point.focus or debuggee.focus
    value = compile_expression(debuggee, point.text, focus)
    value.value()
    if not value.accesses:
        text = point.text
        if any(symbol.name == text for symbol in debuggee.program.symbols):
            more = f"`{point.kind} *{text}` watches the word there"
            raise PointError(f"{text} is an address, which never changes; {more}")
        raise PointError(f"{text} never changes")
    condition = point.condition and compile_expression(debuggee, point.condition, focus)
    uses_focus = value.uses_focus or (condition and condition.uses_focus)
    point.focus = focus if uses_focus else ()
    if point.kind == "watch":
        return
    for access, _ in value.accesses:
        if not (access.memory or access.registers or access.queues):
            raise PointError(
                f"{point.kind} is of memory, registers and queues, and {access.text} is none;"
                " `watch` is of anything that changes"
            )
