"""The arbiter of on-chip memory: in each cycle a bank serves one access.

Each half of each unit has banks of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from macaw.emu.address_space import AddressSpace
from macaw.emu.agents import Agent
from macaw.emu.endpoints import Endpoint
from macaw.emu.faults import Fault
from macaw.emu.waits import NEVER

# address and number of bytes; in a `Request` the offset in its half replaces the address
Range = tuple[int, int]


class Request:
    """A requested beat: an access of a port to bytes of one half, not completely granted yet.

    The arbiter grants the beat in one or more pieces, at most one in a cycle.
    """

    __slots__ = ("at", "data", "half", "pieces", "port", "ranges")

    def __init__(
        self,
        port: Endpoint,
        ranges: tuple[Range, ...],
        data: bytes | None,
        half: int,
        pieces: tuple[int, ...],
    ) -> None:
        self.port = port
        self.ranges = ranges  # offset in the half, and number of bytes
        self.data = data
        self.half = half
        self.pieces = pieces  # for each piece, the mask of the banks that it needs
        self.at = 0  # the number of pieces that the arbiter has granted


class Banks:
    """The arbiter: it keeps the requests for on-chip memory and grants them.

    The arbiter acts after all cores of a cycle, in each half of a unit separately. It orders the
    requesters of a half by the cycle of their last grant there, the earliest first, then by port
    number. It grants a requester its next piece if all banks of that piece are still free in this
    cycle. The other requesters count the cycle as blocked and try again in the next cycle. So the
    requesters of a bank take turns (round-robin): while a requester waits, each other requester
    gets at most one grant.
    """

    def __init__(self, space: AddressSpace, banks: int, width: int, latency: int) -> None:
        self.space = space
        self.count = banks
        self.width = width  # of a word of a bank, in bytes
        self.latency = latency  # cycles from grant to data
        self.time = NEVER  # the arbiter acts at the end of this cycle
        self._requests: list[Request] = []
        self._last: list[list[int]] = []  # [half][port]: the cycle of its last grant, -1: never
        # By half: a function of the core that uses this half without requests. The arbiter calls it
        # with the cycle in which another core requests the half.
        self.exclusive: dict[int, Callable[[int], None]] = {}

    def build(self, halves: int) -> None:
        """Set the number of halves, remove all ports, and reset the arbiter."""
        self._last = [[] for _ in range(halves)]
        self.reset()

    def add_ports(self, places: Sequence[int]) -> None:
        """Add ports, and put all ports into a new order.

        `places` has, for each port in the new order, the port's index in the old order, or -1 for a
        new port.
        """
        self._last = [[-1 if place < 0 else line[place] for place in places] for line in self._last]

    def reset(self) -> None:
        """Forget all requests and grants."""
        self.time = NEVER
        self._requests = []
        self.exclusive = {}
        for line in self._last:
            line[:] = [-1] * len(line)

    def pending(self, port: Endpoint) -> bool:
        """Return whether a request of `port` waits for its grant."""
        return any(request.port is port for request in self._requests)

    def has_request_of(self, core: Agent) -> bool:
        """Return whether a request of any port of `core` waits for its grant."""
        return any(request.port.core is core for request in self._requests)

    def serve_at_once(self, length: int) -> bool:
        """Return whether the banks can serve any `length` adjacent bytes in one cycle."""
        return -(-(length - 1) // self.width) + 1 <= self.count

    def has_request_in(self, half: int) -> bool:
        """Return whether any request for the half with this index waits for its grant."""
        return any(request.half == half for request in self._requests)

    def count_exclusive(
        self, port: Endpoint, half: int, time: int, reads: int = 0, writes: int = 0
    ) -> None:
        """Count `reads` and `writes` beats of `port` in a half to which it has exclusive access.

        The banks serve each of these beats in one cycle. `time` is the cycle of the last beat.
        """
        port.reads += reads
        port.writes += writes
        if port.core.tracing:
            for of, count in (("reads", reads), ("writes", writes)):
                if count:
                    port.core.count_occurrence(of, time, time + 1, count, port.instruction)
        self._last[half][port.place] = time

    def grant_exclusive(
        self, port: Endpoint, time: int, address: int, length: int, data: bytes | None
    ) -> tuple[bytes, int]:
        """Grant a beat in cycle `time`, without a request, in a half that `port` has for itself.

        The beat has the `length` bytes at `address`; the banks must be able to serve it in one
        cycle. The beat writes `data`, or reads if `data` is None. Return the bytes that were read
        (empty for a write), and the cycle from which the core may use the result.
        """
        half, offset = self.space.locate_half(address, length)
        pages = self.space.halves[half]
        if data is None:
            self.count_exclusive(port, half, time, reads=1)
            return pages.read(offset, length), time + self.latency
        self.count_exclusive(port, half, time, writes=1)
        pages.write(offset, data)
        return b"", time + 1

    def revoke(self, time: int, half: int | None = None) -> None:
        """End exclusive access to one half, or to all halves if `half` is None, in cycle `time`.

        The method calls the function that the core put into `exclusive` for each of these halves.
        """
        for one in list(self.exclusive) if half is None else [half]:
            if one in self.exclusive:
                self.exclusive.pop(one)(time)

    def post(self, port: Endpoint, time: int, ranges: Sequence[Range], data: bytes | None) -> None:
        """Add the request of a beat in cycle `time`, for the bytes in `ranges` (see `Port.beat`).

        The beat writes `data`, or reads if `data` is None. Raises `Fault` unless one half contains
        all bytes.
        """
        half = -1
        inside = []
        for address, length in ranges:
            index, offset = self.space.locate_half(
                address, length, "read" if data is None else "write"
            )
            if half not in (-1, index):
                raise Fault(
                    "out-of-range access",
                    f"a beat touches two halves of on-chip memory, one at {address:#010x}",
                    {"address": address, "length": length},
                )
            half = index
            inside.append((offset, length))
        if half in self.exclusive:
            self.revoke(time, half)
        pieces = self.pieces(inside)
        self._requests.append(Request(port, tuple(inside), data, half, pieces))
        self.time = time

    def pieces(self, ranges: Sequence[Range]) -> tuple[int, ...]:
        """Divide a request for these ranges into pieces; return the mask of banks of each piece.

        The banks serve one piece in a cycle. A new piece begins where a bank would have to serve a
        second word. Raises `ValueError` if the ranges have no bytes.
        """
        width, count = self.width, self.count
        if len(ranges) == 1:
            offset, length = ranges[0]
            first = offset // width
            words = (offset + length - 1) // width - first + 1
            if length and words <= count:
                mask = ((1 << words) - 1) << first % count
                return ((mask | mask >> count) & (1 << count) - 1,)
        pieces: list[int] = []
        taken: dict[int, int] = {}
        for offset, length in ranges:
            end = (offset + length - 1) // width + 1 if length else 0
            for word in range(offset // width, end):
                bank = word % count
                if taken.setdefault(bank, word) != word:
                    pieces.append(sum(1 << used for used in taken))
                    taken = {bank: word}
        if not taken:
            raise ValueError("a beat of no bytes")
        return (*pieces, sum(1 << used for used in taken))

    def arbitrate(self) -> None:
        """Grant requests at the end of cycle `self.time`.

        The arbiter passes the answer to a core by calling its `granted`.
        """
        time = self.time
        requests = self._requests
        if len(requests) == 1:
            request = requests[0]
            self._last[request.half][request.port.place] = time
            request.at += 1
            if request.at < len(request.pieces):
                self.time = time + 1
                return
            self._requests = []
            self.time = NEVER
            self._answer(request, time)
            return
        requests.sort(key=lambda x: (self._last[x.half][x.port.place], x.port.place))
        busy: dict[int, int] = {}
        waiting: list[Request] = []
        done: list[Request] = []
        for request in requests:
            needed = request.pieces[request.at]
            used = busy.get(request.half, 0)
            if used & needed:
                self._count_blocked(request)
                waiting.append(request)
                continue
            busy[request.half] = used | needed
            self._last[request.half][request.port.place] = time
            request.at += 1
            (done if request.at == len(request.pieces) else waiting).append(request)
        self._requests = waiting
        self.time = time + 1 if waiting else NEVER
        done.sort(key=lambda x: x.port.place)
        for request in done:
            self._answer(request, time)

    def _count_blocked(self, request: Request) -> None:
        """Count a cycle in which a request waited because its banks served other requests."""
        port = request.port
        of = "reads_blocked" if request.data is None else "writes_blocked"
        setattr(port, of, getattr(port, of) + 1)
        if port.core.tracing:
            port.core.count_occurrence(of, self.time, self.time + 1, 1, port.instruction)
        if port.core.listeners:
            port.core.announce("blocked", address=self._address(request), of=of)

    def _answer(self, request: Request, time: int) -> None:
        """Read or write a request's bytes in cycle `time`, and call the requester's `granted`."""
        port = request.port
        pages = self.space.halves[request.half]
        data = b""
        if request.data is None:
            port.reads += 1
            if len(request.ranges) == 1:
                offset, length = request.ranges[0]
                data = pages.bytes[offset : offset + length].tobytes()
            else:
                data = b"".join(pages.read(offset, length) for offset, length in request.ranges)
            ready = time + self.latency
        else:
            port.writes += 1
            place = 0
            for offset, length in request.ranges:
                pages.write(offset, request.data[place : place + length])
                place += length
            ready = time + 1
        core = port.core
        if core.tracing:
            of = "reads" if request.data is None else "writes"
            core.count_occurrence(of, time, time + 1, 1, port.instruction)
        if core.listeners:
            kind = "read" if request.data is None else "write"
            base = self._address(request) - request.ranges[0][0]
            for offset, length in request.ranges:
                core.announce(kind, address=base + offset, size=length)
        try:
            core.granted(port, data, time, ready)
        except Fault as fault:
            fault.core = fault.core or core.name
            fault.cycle = time if fault.cycle is None else fault.cycle
            raise

    def _address(self, request: Request) -> int:
        return self.space.half_address(request.half) + request.ranges[0][0]

    def plain(self) -> Any:
        """Return the arbiter's time, pending requests and last grants as a plain value.

        `macaw.emu.plain` defines plain values.
        """
        requests = [
            (x.port.place, x.ranges, x.data, x.half, x.at)
            for x in sorted(self._requests, key=lambda x: x.port.place)
        ]
        return [self.time, requests, self._last]

    def take(self, value: Any, ports: Sequence[Endpoint]) -> None:
        """Restore a value that `plain` returned.

        `ports` must be the ports of that call of `plain`, in the same order.
        """
        self.time, requests, last = value
        self.exclusive = {}
        self._last = [list(line) for line in last]
        self._requests = []
        for place, ranges, data, half, at in requests:
            request = Request(ports[place], ranges, data, half, self.pieces(ranges))
            request.at = at
            self._requests.append(request)
