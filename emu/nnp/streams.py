"""Which pieces of which accesses the vectors in NetInQ came in, while somebody asks."""

from __future__ import annotations

from macaw.emu.origins import Passed

Vector = list[Passed]  # pieces in their order; number -1: nobody knows
_UNKNOWN = -1


class Stream:
    """Bytes that come through the windows of a core, and the vectors that they make."""

    def __init__(self, whole: int, vectors: int) -> None:
        self.whole = whole  # bytes of a vector
        self.vectors: list[Vector] = [[Passed(_UNKNOWN, 0, whole)] for _ in range(vectors)]
        self._pieces: dict[str, Vector] = {}  # by window: of what is not whole

    def came(self, window: str, number: int, size: int) -> None:
        """Bytes came by the access of a number."""
        self._pieces.setdefault(window, []).append(Passed(number, 0, size))

    def push(self, window: str) -> None:
        """A vector is whole."""
        self.vectors.append(self.cut(window, self.whole))

    def take(self) -> Vector:
        """The first vector leaves the queue."""
        return self.vectors.pop(0)

    def cut(self, window: str, size: int) -> Vector:
        """The first bytes that came through a window leave it."""
        pieces, found = self._pieces.setdefault(window, []), []
        known = sum(x.size for x in pieces)
        if known < size:  # the others were there when all this began
            found.append(Passed(_UNKNOWN, 0, size - known))
            size = known
        while size:
            number, first, length = pieces.pop(0)
            some = min(size, length)
            found.append(Passed(number, first, some))
            if some < length:
                pieces.insert(0, Passed(number, first + some, length - some))
            size -= some
        return found


def part(vector: Vector, first: int, size: int) -> Vector:
    """Some bytes of a run of pieces."""
    found = []
    for number, begin, length in vector:
        low, high = max(first, 0), min(first + size, length)
        if low < high:
            found.append(Passed(number, begin + low, high - low))
        first -= length
    return found
