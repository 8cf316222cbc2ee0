"""The accountant of nnp: it charges each cycle by the activity of the matrix-vector multiplier."""

from __future__ import annotations

from collections import deque
from functools import reduce
from heapq import heappop, heappush
from itertools import islice
from operator import or_

from macaw.emu.accountant import Accountant
from macaw.emu.core import Core, Event
from macaw.emu.nnp.chain_order import ChainOrder
from macaw.emu.nnp.core import NnpCore

_Span = tuple[int, int, int]  # begin, end, address of the chain
_Wait = tuple[int, int, int, str]  # begin, end, address of the chain, what it waited for


class NnpAccountant(Accountant):
    """Charges each cycle by the activity of the multiplier.

    A cycle is work if a product uses the multiplier. Other cycles are charged to one of three
    causes: a wait at a network queue, a part of a chain without a product in the multiplier, or the
    issue of instructions.
    """

    core: NnpCore
    mendable = ("fill",)

    def __init__(self, core: NnpCore) -> None:
        super().__init__(core)
        self.products: list[tuple[int, int, int, int]] = []  # begin, end, busy cycles, address
        self.chains: list[_Span] = []
        self.used: list[tuple[int, int]] = []  # begins and ends of what the present chain uses
        self.queues: list[_Wait] = []
        self.programs: list[tuple[int, int]] = []
        self.issued: deque[tuple[int, int]] = deque()  # times and addresses of instructions
        self._open: list[_Span] = []  # a heap: the chain that began first is on top
        self.begin = -1  # of the running program
        self.iterations = 0  # of chains, so far
        self.order = ChainOrder(core.device.config)
        self.saved = 0  # cycles that another order of chains would save
        self.joined = 0  # cycles that longer chains would save
        # any other core may move data to or from a queue
        self.others = reduce(
            or_, (1 << other.number for other in core.device.order if other is not core), 0
        )

    def hear(self, event: Event) -> None:
        values = event.values
        chain = self.core.state.chain
        address = chain[0][0] if chain else 0
        if event.kind == "instruction":
            self.issued.append((event.time, int(values["address"])))
            if self.begin < 0:
                self.begin = event.time
                self.order = ChainOrder(self.core.device.config)
        elif event.kind == "chain":
            self._chain(address, int(values["iteration"]))
        elif event.kind == "used":
            begin, until = int(values["begin"]), int(values["until"])
            self.used.append((begin, until))
            if values["of"] == "array":
                cycles = int(values["times"]) * self.core.divider
                self.products.append((begin, until, cycles, address))

    def _chain(self, address: int, first: int) -> None:
        """Record the iterations of the chain at `address` that the core has just done.

        The first of these iterations has number `first`.
        """
        chain, done = self.core.chain, self.core.state.chains
        count, self.iterations = done - self.iterations, done
        if self.used:
            begin, end = min(self.used)[0], max(end for _, end in self.used)
            self.used.clear()
            self.chains.append((begin, end, address))
            if chain is not None:
                self.order.add(chain, first, count)

    def acted(self) -> None:
        for waiting, end in self.ended_waits:
            chain = self.core.state.chain
            self.queues.append((waiting.since, end, chain[0][0] if chain else 0, waiting.on))
        self.ended_waits.clear()
        if self.begin >= 0 and not self.core.running:
            self._end_program(self.core.device.cycle + self.core.divider)

    def _end_program(self, time: int) -> None:
        self.programs.append((self.begin, time))
        self.saved += self.order.cycles_saved()
        self.joined += self.order.cycles_of_issue()
        self.begin = -1

    def settle(self, time: int) -> None:
        if self.begin >= 0:
            self._end_program(time)
        waiting, chain = self.core.waiting, self.core.state.chain
        if waiting is not None:
            address = chain[0][0] if chain else self.core.next_address or 0
            self.queues.append((waiting.since, time, address, waiting.on))
        products, queues = deque(sorted(self.products)), deque(sorted(self.queues))
        self.chains.sort(key=lambda span: span[0], reverse=True)
        for begin, end in self.programs:
            self.idle(min(begin, time))
            while products and products[0][0] < end:
                first, last, cycles, address = products.popleft()
                until = min(last, end, time)
                self._outside_products(queues, min(first, until))
                self.span("work", min(self.at + cycles, until), address)
                self.span("results", until, address)
            self._outside_products(queues, min(end, time))
        busy = sum(
            count
            for charge, count in self.charges.items()
            if not (charge.is_wait or charge.is_idle)
        )
        self.least["fill"] = busy - max(self.saved, self.joined)

    def _outside_products(self, queues: deque[_Wait], until: int) -> None:
        """Charge the cycles up to `until`, in which no product uses the multiplier.

        `queues` has the waits at network queues from the present cycle on, the earliest first.
        """
        while queues and queues[0][0] < until:
            begin, end, address, on = queues[0]
            self._in_chains(min(begin, until))
            self.span("data", min(end, until), address, on, cores=self.others)
            if end > until:
                break
            queues.popleft()
        self._in_chains(until)

    def _in_chains(self, until: int) -> None:
        """Charge the cycles up to `until` to the oldest open chain.

        Cycles in which no chain is open are charged to the cause `issue`.
        """
        while self.at < until:
            while self.chains and self.chains[-1][0] <= self.at:
                heappush(self._open, self.chains.pop())
            while self._open and self._open[0][1] <= self.at:
                heappop(self._open)
            if self._open:
                _, end, address = self._open[0]
                self.span("fill", min(end, until), address)
            else:
                self._issues(min(self.chains[-1][0], until) if self.chains else until)

    def _issues(self, until: int) -> None:
        """Charge the cycles up to `until` to `issue`: to the instructions issued in them."""
        while self.at < until:
            while len(self.issued) > 1 and self.issued[1][0] <= self.at:
                self.issued.popleft()
            (begin, address), *later = islice(self.issued, 2)
            end = min(until, later[0][0]) if later else until
            self.span("issue", min(begin, until))
            self.span("issue", end, address)


def make(core: Core) -> Accountant:
    """Return a new accountant of nnp."""
    assert isinstance(core, NnpCore)
    return NnpAccountant(core)
