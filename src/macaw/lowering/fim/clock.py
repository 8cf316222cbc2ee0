"""When a plan's actions begin and end: one cp, one dma that waits at its head, islands.

cp issues actions in order. Copies are queued at the dma; `start` waits for its step's inputs and
for the island; a copy to or from banks with running blocks waits for these, and with it all copies
behind it (docs/timing-fim.md). The results of a step are fetched before anything else is brought
into its banks, and before a step that reads them is brought in.
"""

from __future__ import annotations

from collections.abc import Sequence

from macaw.lowering.fim.plan import BRING, FETCH, HOST, START, Action, Option


class Clock:
    """The times at which cp, the dma and the islands are free."""

    def __init__(self) -> None:
        self.cp = self.dma = 0
        self.islands: dict[int, tuple[int, int]] = {}  # end of the last blocks, their banks

    def copy(self) -> Clock:
        """One that goes on alone."""
        clock = Clock()
        clock.cp, clock.dma, clock.islands = self.cp, self.dma, dict(self.islands)
        return clock

    @property
    def end(self) -> int:
        """When everything has ended."""
        return max(self.cp, self.dma, *(end for end, _ in self.islands.values()), 0)

    def free(self, option: Option) -> int:
        """From when on copies reach an option's banks."""
        end, banks = self.islands.get(option.island or 0, (0, 0))
        return end if banks & option.banks else 0

    def bring(self, option: Option) -> tuple[int, int]:
        """Copies of the inputs: begin and end."""
        begin = max(self.cp, self.dma)
        if option.bring:
            first = max(begin, self.free(option))
            self.dma = first + option.bring
            self._held(first, option.held_bring)
        return begin, max(begin, self.dma)

    def start(self, option: Option, inputs_at: int) -> tuple[int, int]:
        """The blocks: begin and end."""
        assert option.island is not None
        self.cp = max(self.cp, inputs_at, self.islands.get(option.island, (0, 0))[0])
        begin = self.cp
        self.islands[option.island] = begin + option.compute, option.banks
        if option.during:
            self.cp = begin + option.during
            self.dma = max(self.dma, self.cp)
        return begin, begin + option.compute

    def fetch(self, option: Option) -> tuple[int, int]:
        """Copies of the results: begin and end."""
        begin = max(self.cp, self.dma)
        first = max(begin, self.free(option))
        self.dma = first + option.fetch
        self._held(first, option.held_fetch)
        return begin, self.dma

    def host(self, option: Option) -> tuple[int, int]:
        """A task of the host: copies alone are queued, cp waits for what it reads itself."""
        begin = max(self.cp, self.dma)
        if option.bring:
            self.dma = begin + option.bring
        if option.compute:
            self.cp = max(begin, self.dma) + option.compute
        return begin, max(self.cp if option.compute else 0, self.dma)

    def _held(self, first: int, cycles: int) -> None:
        if cycles:
            self.cp = max(self.cp, first + cycles)


class Track:
    """Steps issued one by one, with the actions that come of them."""

    def __init__(self, eager: bool = False) -> None:
        self.clock = Clock()
        self.eager = eager  # fetch before the next step what has ended
        self.actions: list[Action] = []
        self.options: list[Option] = []
        self.ends: list[int] = []  # of the blocks
        self.pending: list[int] = []  # steps whose results are still in banks
        self.maker: dict[str, int] = {}

    def copy(self) -> Track:
        """One that goes on alone."""
        track = Track(self.eager)
        track.clock, track.maker = self.clock.copy(), dict(self.maker)
        for name in ("actions", "options", "ends", "pending"):
            setattr(track, name, list(getattr(self, name)))
        return track

    def issue(self, option: Option) -> None:
        """Do a step next: fetch what has to be there, bring its inputs, start it."""
        self.fetch_needed(option)
        number = len(self.options)
        self.options.append(option)
        self.maker[option.task.output.name] = number
        if option.island is None:
            self._add(HOST, number, self.clock.host(option))
            self.ends.append(self.actions[-1].end)
            return
        inputs_at = self._add(BRING, number, self.clock.bring(option))
        self.ends.append(self._add(START, number, self.clock.start(option, inputs_at)))
        self.pending.append(number)

    def fetch_needed(self, option: Option) -> None:
        """Fetch what an option reads, and what lies in its banks."""
        sources = {
            self.maker.get(tensor.memory.name) for task in option.tasks for tensor in task.inputs
        }
        for step in list(self.pending):
            other = self.options[step]
            same_banks = other.island == option.island and other.banks & option.banks
            is_over = self.eager and self.ends[step] <= max(self.clock.cp, self.clock.dma)
            if step in sources or same_banks or is_over:
                self.fetch(step)

    def fetch(self, step: int) -> None:
        """Fetch the results of a step."""
        self.pending.remove(step)
        self._add(FETCH, step, self.clock.fetch(self.options[step]))

    def finish(self) -> int:
        """Fetch all results, those first that are there first; give the end."""
        for step in sorted(self.pending, key=lambda step: self.ends[step]):
            self.fetch(step)
        return self.clock.end

    def _add(self, kind: str, step: int, times: tuple[int, int]) -> int:
        self.actions.append(Action(kind, step, *times))
        return times[1]


def followed(options: Sequence[Option]) -> Track:
    """The actions of steps in an order: the better of fetching late and fetching early."""
    tracks = Track(), Track(eager=True)
    for track in tracks:
        for option in options:
            track.issue(option)
        track.finish()
    return min(tracks, key=lambda track: track.clock.end)
