"""Arrivals: records which accesses of other cores brought the bytes of the vectors in NetInQ."""

from __future__ import annotations

from macaw.emu.origins import WindowPart

Pieces = list[WindowPart]  # in the order of the accesses; number -1: the access is not known
_UNKNOWN = -1


class Arrivals:
    """The bytes that have arrived through the windows of nnp, and the accesses that sent them.

    A piece is a range of bytes of one access. `vectors` has the pieces of each vector in NetInQ.
    """

    def __init__(self, vector_bytes: int, vectors: int) -> None:
        self.vector_bytes = vector_bytes
        self.vectors: list[Pieces] = [
            [WindowPart(_UNKNOWN, 0, vector_bytes)] for _ in range(vectors)
        ]
        # by window: the pieces of vectors that are not complete yet
        self._pieces: dict[str, Pieces] = {}

    def add(self, window: str, number: int, size: int) -> None:
        """Record that an access brought `size` bytes to a window.

        `number` is the number under which the access was announced to listeners.
        """
        self._pieces.setdefault(window, []).append(WindowPart(number, 0, size))

    def push_vector(self, window: str) -> None:
        """Record that a vector, the oldest bytes of a window, moved to NetInQ."""
        self.vectors.append(self.take(window, self.vector_bytes))

    def pop_vector(self) -> Pieces:
        """Remove the first vector of NetInQ from the record, and return its pieces.

        A piece is a range of bytes that one access sent.
        """
        return self.vectors.pop(0)

    def take(self, window: str, size: int) -> Pieces:
        """Remove and return the record of the oldest `size` bytes that came through a window.

        The result says which accesses sent these bytes: it has a piece for each access.
        """
        pieces, removed = self._pieces.setdefault(window, []), []
        known = sum(x.size for x in pieces)
        if known < size:  # the others arrived before the record began
            removed.append(WindowPart(_UNKNOWN, 0, size - known))
            size = known
        while size:
            number, first, length = pieces.pop(0)
            some = min(size, length)
            removed.append(WindowPart(number, first, some))
            if some < length:
                pieces.insert(0, WindowPart(number, first + some, length - some))
            size -= some
        return removed


def slice_pieces(pieces: Pieces, first: int, size: int) -> Pieces:
    """Return the pieces that bytes `first` to `first` + `size` - 1 of some data consist of.

    A piece is some bytes of one access, which sent them. `pieces` has the pieces of all of the
    data, in order.
    """
    result = []
    for number, begin, length in pieces:
        low, high = max(first, 0), min(first + size, length)
        if low < high:
            result.append(WindowPart(number, begin + low, high - low))
        first -= length
    return result
