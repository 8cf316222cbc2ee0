"""What the simple lines of a text did in a run, so that the next run can do the same again.

Simple lines are those that the assembler encodes without its parser (`asm/fast_path.py`). After an
edit, most lines of a text are the same as in the run before. `Recordings` keeps the segments of
each text from run to run. A segment is the effect of consecutive simple lines on one area;
positions in it count from its own start, so it is valid wherever the same lines are.
"""

from __future__ import annotations

from bisect import bisect_right

from macaw.asm.label_references import Item
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.typed_records import NamedTuple

_LEAST_LIMIT = 64  # segments of a text that is not read anew


class Conditions(NamedTuple):
    """What must be the same where a recorded segment is to be repeated.

    `marks_data` says whether the line table has rows for the area's data. `alignment` is the offset
    of the segment in the area, modulo the size of a word. `macros` are the words that begin macro
    calls.
    """

    marks_data: bool
    alignment: int
    macros: frozenset[str]


class Label(NamedTuple):
    """The definition of a label at `offset` of a segment.

    `text` is the line with the label, and `place` its offset in the text. `is_used` is true if the
    segment uses the label after its definition.
    """

    offset: int
    name: str
    place: int
    text: str
    is_used: bool


class Reference(NamedTuple):
    """A word or a number of a segment that refers to a label.

    `item` is an `Item` (`asm/label_references.py`), but its positions count from the start of the
    segment. `words` is the number of instruction words; it is 0 for a number.
    """

    item: Item
    words: int


class Ending(NamedTuple):
    """The directive in the last line of a segment: its first word, and the text after that word.

    `place` is the source offset of the line's text.
    """

    head: str
    rest: str
    place: int


class Segment(NamedTuple):
    """The effect of consecutive simple lines on one area.

    `length` is the number of characters of the lines. `body` is that number without the line of
    `ending`, and equals `length` if there is no ending. The segment is valid only in an area with
    the encoders `table`, and under `conditions`. `data` are its bytes, `instructions` is the number
    of its instructions. `offsets` and `places` are its rows of the line table: offsets in the area
    and in the source. `events` has labels and references in their order.
    """

    length: int
    body: int
    table: object
    conditions: Conditions
    data: bytes
    instructions: int
    offsets: list[int]
    places: list[int]
    events: tuple[Label | Reference, ...]
    ending: Ending | None = None


@dataclass(eq=False)
class RecordedText:
    """The segments of a text by their source offsets.

    With each edit, the text gets more and smaller segments. If there are more than
    `limit` segments, the next edit discards them all. If `limit` is 0, the next edit chooses it.
    """

    text: str
    segments: dict[int, Segment]
    limit: int

    def __post_init__(self) -> None:
        self._starts = sorted(self.segments)  # of the segments at the beginning

    def following(self, start: int) -> int:
        """Return the start of the first segment after `start`; the text's end if there is none."""
        place = bisect_right(self._starts, start)
        return self._starts[place] if place < len(self._starts) else len(self.text)

    def after_edit(self, text: str) -> RecordedText:
        """Return the segments that are still valid in `text`, the text after an edit."""
        limit = self.limit or max(2 * len(self.segments), _LEAST_LIMIT)
        if len(self.segments) > limit:
            return RecordedText(text, {}, 0)
        if text == self.text:
            return RecordedText(text, self.segments, limit)
        before = _same_at_start(self.text, text)
        longest = min(len(self.text), len(text)) - before
        first = len(self.text) - _same_at_end(self.text, text, longest)
        moved = len(text) - len(self.text)
        segments, end = {}, 0
        for start in sorted(self.segments):
            segment = self.segments[start]
            if start < end:
                continue
            if start + segment.length <= before:
                segments[start] = segment
            elif start >= first:
                segments[start + moved] = segment
            else:
                continue
            end = start + segment.length
        return RecordedText(text, segments, limit)


class Recordings:
    """The recorded texts of a program, by the names of its files."""

    def __init__(self) -> None:
        self._texts: dict[str, RecordedText] = {}

    def of(self, name: str, text: str) -> RecordedText:
        """Return the recorded segments of the file `name` whose lines `text` still has."""
        known = self._texts.get(name)
        if known is None:
            known = RecordedText(text, {}, 0)
        elif known.text is not text:
            known = known.after_edit(text)
        self._texts[name] = known
        return known

    def clear(self) -> None:
        """Forget all texts."""
        self._texts.clear()


def _same_at_start(one: str, other: str) -> int:
    """Return how many characters at the start of two texts are the same."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _same_at_end(one: str, other: str, most: int) -> int:
    """Return how many characters at the end of two texts are the same, but at most `most`."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle - 1
    return low
