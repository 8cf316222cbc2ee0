"""Reads the operand `out=` of an exe packet, which says where the packet's results are written."""

from __future__ import annotations

from collections.abc import Mapping

from macaw.asm.diagnostics import did_you_mean
from macaw.asm.expressions import number
from macaw.asm.forms.pe.segments import Places, SegmentPlace, symbol_of
from macaw.asm.program import DTYPE_SIZES
from macaw.asm.statement_context import StatementContext
from macaw.asm.symbols import Datum, Definition
from macaw.asm.syntax import Group, Indexed, Mistake, Name, Named, Node, Slice
from macaw.isa import codec
from macaw.isa.kinds import Immediate
from macaw.isa.pe import DTYPES, ELEMENTS, OPERAND_DTYPES, OUT
from macaw.isa.pe_elements import is_floating, widest_of
from macaw.isa.typed_records import NamedTuple

_OPTIONS = ("stride", "step", "count", "pes", "type")
# The greatest number of each member of the record.
_HIGH = {
    member.name: member.legal.high for member in OUT.members if isinstance(member.legal, Immediate)
}


class Writers(NamedTuple):
    """The PEs of a row that write results: every `apart`-th PE index from `first` to `last`.

    A PE's index is its cluster's number times the PEs per cluster, plus its number in the cluster.
    If `limit` (`pes=`) is not 0, only PEs with a lower index write.
    """

    limit: int  # `pes=`: only PEs with a lower index write; 0: all
    first: int
    last: int
    apart: int  # step of the index: 1, or the PEs of a cluster if only PE 0 of each writes

    @property
    def words(self) -> str:
        """The PEs as a phrase for messages, such as "8 PEs".

        The phrase counts from PE 0 on, and includes PEs of clusters that `to=` excludes.
        """
        if self.apart == 1:
            return f"{self.last + 1} PEs"
        last = self.last // self.apart
        return f"PE 0 of clusters 0 to {last}" if last else "PE 0 of cluster 0"


class Results:
    """The operand `out=` of an exe packet."""

    def __init__(self, context: StatementContext, node: Node) -> None:
        """Parse the operand. Raises `Mistake`."""
        items = node.items if isinstance(node, Group) else (node,)
        plain = [item for item in items if not isinstance(item, Named)]
        if len(plain) != 1 or not isinstance(plain[0], Name | Indexed):
            raise Mistake(
                "out= takes a symbol, a part of one, or unit[offset]",
                node,
                "as in out=y or out=(y[0], stride=4, step=4, count=1, pes=8)",
            )
        options = context.named_operands(items, _OPTIONS, Name(node.start, node.end, "out"))
        self.part: Name | Indexed = plain[0]
        part = context.fold(plain[0]) if isinstance(plain[0], Indexed) else plain[0]
        if isinstance(part, Indexed):
            self.part = part
        self.target: Definition | None = None  # the tensor that `out=` names, if any
        self.written_range = (0, 0)  # bytes (first, end) of `target` that may be written
        self._options: Mapping[str, Node] = {
            key: item.value if key == "type" else context.fold(item.value)
            for key, item in options.items()
        }

    @property
    def name(self) -> Name:
        """The symbol to which the results are written."""
        return symbol_of(self.part)

    def writers(self, places: Places, mask: int, weight_pes: int, first_alone: bool) -> Writers:
        """Return the PEs that write results, among the clusters in `mask`. Raises `Mistake`.

        A PE writes only if its index is below the option `pes=`. Without `pes=`, the limit is
        `weight_pes`, the number of PEs that have a row of weights; 0 means no limit. With
        `first_alone`, PE 0 of each cluster writes and no other PE.
        """
        config = places.image.state.config
        pes = int(config["pe.pes"])
        limit = self._option(places.context, "pes", weight_pes, int(config["pe.clusters"]) * pes)
        clusters = [cluster for cluster in range(mask.bit_length()) if mask >> cluster & 1]
        last = clusters[-1] * pes if first_alone else (clusters[-1] + 1) * pes - 1
        if limit and last >= limit:
            last = (limit - 1) // pes * pes if first_alone else limit - 1
        return Writers(limit, clusters[0] * pes, last, pes if first_alone else 1)

    def record(self, places: Places, writers: Writers, stores: int | None) -> bytes:
        """Return the bytes of the packet's out record. Raises `Mistake`.

        `stores` is the number of stores that the packet executes; None if it is not known.
        """
        context = places.context
        place = places.result_place(self.part)
        element = self._element(place.datum)
        size = DTYPE_SIZES[DTYPES[element]]
        count = self._option(context, "count", 1, _HIGH["count"])
        step = self._option(context, "step", size, _HIGH["step"])
        high = _HIGH["stride"]
        values = {
            "offset": place.offset,
            "stride": self._option(context, "stride", min(count * step, high), high),
            "step": step,
            "count": count,
            "pes": writers.limit,
            "element": ELEMENTS.index(element),
        }
        if stores and count:
            self._check_kind(element, widest_of(places.image.state.config))
        if place.symbol is not None and count:
            self._check_extent(places, place, values, size, writers, stores)
        if stores:
            self._warn_of_overlap(context, values, size, writers, stores * count)
        return codec.pack(OUT, values)

    def _option(self, context: StatementContext, name: str, default: int, high: int) -> int:
        node = self._options.get(name)
        if node is None:
            return default
        value = number(node, context)
        if not 0 <= value <= high:
            raise Mistake(f"{name}: {value} is out of range, 0 to {high}", node)
        return value

    def _element(self, datum: Datum | None) -> str:
        node = self._options.get("type")
        if node is not None:
            word = node.text if isinstance(node, Name) else ""
            if word not in ELEMENTS:
                hint = did_you_mean(word, ELEMENTS) or "there are " + ", ".join(ELEMENTS)
                raise Mistake("type takes an element type of the array", node, hint)
            return word
        dtype = datum.dtype if datum is not None else ""
        for element in ELEMENTS:
            if DTYPES[element] == dtype:
                return element
        if dtype:
            # The types of operands first.
            choices = ", ".join(dict.fromkeys((*OPERAND_DTYPES.values(), *DTYPES.values())))
            raise Mistake(f"results are not written as {dtype}", self.part, f"there are {choices}")
        raise Mistake("the element type of the results is not known", self.part, "say type=")

    def _check_kind(self, element: str, widest: str) -> None:
        """Raise `Mistake` unless results and elements are both integers or both floating-point.

        `element` is the type of the elements in memory, `widest` that of the array's operands.
        """
        if is_floating(element) != is_floating(widest):
            kind = "floating-point numbers" if is_floating(widest) else "integers"
            raise Mistake(
                f"results are not written as {element}: the array adds {kind}",
                self._options.get("type", self.part),
                "pe.widest says which",
            )

    def _warn_of_overlap(
        self,
        context: StatementContext,
        values: Mapping[str, int],
        size: int,
        writers: Writers,
        elements: int,
    ) -> None:
        """Warn if the results of two PEs overlap.

        `values` are the members of the out record. Each PE writes `elements` elements of `size`
        bytes.
        """
        stride, step = values["stride"] * writers.apart, values["step"]
        count = writers.last // writers.apart + 1
        if stride and overlap(count, elements, stride, step, size):
            least = -(-elements * step // writers.apart)
            context.state.report.warning(
                context.line,
                self.part,
                f"PEs write over each other's results: each writes {_counted(elements, 'element')},"
                f" but the next PE begins {_counted(values['stride'], 'byte')} later",
                f"such as stride={least}",
                name="overlap",
            )

    def _check_extent(
        self,
        places: Places,
        place: SegmentPlace,
        values: Mapping[str, int],
        size: int,
        writers: Writers,
        stores: int | None,
    ) -> None:
        """Raise `Mistake` if the results would extend past the end of the symbol.

        If the operand names a range such as `y[0:4]`, the end of this range counts instead. If
        there is no error, store in `written_range` which bytes the results may occupy. `place` is
        where the results begin, `values` are the members of the out record, and `size` is the size
        of an element in bytes.
        """
        elements = (stores or 1) * values["count"]
        last = writers.last * values["stride"] + (elements - 1) * values["step"] + size
        whole = places.place_of(self.name)
        end = whole.offset + whole.length
        if isinstance(self.part, Indexed) and isinstance(self.part.subscripts[-1], Slice):
            end = place.offset + place.length  # y[0:4] must not be exceeded
        if place.offset + last > end:
            raise Mistake(
                f"results of {writers.words} reach"
                f" {_counted(place.offset + last - end, 'byte')} past '{self.name.text}'",
                self.part,
                "pes=, stride=, step= and count= say what is written",
            )
        first = writers.first * values["stride"]
        start = place.offset - whole.offset
        high = start + last if stores is not None else whole.length
        self.written_range = (0, 0) if stores == 0 else (min(start + first, high), high)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def overlap(writers: int, elements: int, stride: int, step: int, size: int) -> bool:
    """Return whether any two PEs write to the same byte; `writers` is the number of PEs.

    Each PE writes `elements` elements of `size` bytes. Element n of PE p begins at byte
    p·`stride` + n·`step`.
    """
    for distance in range(stride, writers * stride, stride):
        n = min(distance // step if step else 0, elements - 1)
        if any(abs(distance - m * step) < size for m in (n, min(n + 1, elements - 1))):
            return True
    return False
