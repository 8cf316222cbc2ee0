"""Traces an nnp program: executes its chains on memories that contain graph nodes, not numbers.

No chain reads register entries that it writes itself. So all iterations of a chain can be traced at
once: each instruction becomes one node, whose value has a row for each iteration.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from macaw.isa.config import Configuration
from macaw.isa.nnp_chains import follow, step
from macaw.isa.nnp_entries import Access, Volume, accesses, volume
from macaw.isa.nnp_layouts import TILE
from macaw.lowering.concord import cells
from macaw.lowering.concord.cells import NOTHING, Cells, Ints
from macaw.lowering.concord.chains import Chain, SourceInstruction
from macaw.lowering.concord.graph import Graph, Node, Output, Tensor
from macaw.lowering.concord.hints import Hint
from macaw.lowering.concord.inputs import Inputs, Pieces, Units
from macaw.lowering.errors import LowerError

_QUANTISED = "InitialVrf"
_IN, _OUT, _EXTERNAL, _MATRICES = "NetInQ", "NetOutQ", "Dram", "MatrixRf"


def trace(
    chains: Sequence[Chain],
    hints: Sequence[Hint],
    config: Configuration,
    dividing: Units | None = None,
) -> Graph:
    """Return the graph of a program of nnp.

    `chains` are the chains that the program executes; `hints` name its tensors. `dividing` is as
    for `Inputs`; None lets the function find it. Raises `LowerError` if concordant software cannot
    express the program.
    """
    tracer = Tracer(hints, config, dividing or {})
    for chain in chains:
        tracer.run(chain)
    tracer.finish()
    left_out = tracer.inputs.left_out() if dividing is None else {}
    return trace(chains, hints, config, left_out) if left_out else tracer.graph


class Tracer:
    """The state of a trace: the memories and queues of the program, and the graph so far."""

    def __init__(self, hints: Sequence[Hint], config: Configuration, dividing: Units) -> None:
        self.native = int(config["nnp.native"])
        self.graph = Graph(self.native)
        self.mvm_out = bool(config["nnp.quantise_mvm_out"])
        self.mfu_in = bool(config["nnp.quantise_mfu_in"])
        self.hints = hints
        self.memories: dict[str, Cells] = {}  # by name of the memory
        self.pop_count = 0  # native vectors read from NetInQ so far
        self.push_log: list[
            tuple[int, int, SourceInstruction]
        ] = []  # what was pushed to NetOutQ: node, cell, instruction
        # by address in Dram: the instruction that wrote it
        self.write_log: dict[int, SourceInstruction] = {}
        self.inputs = Inputs(self.graph, hints, self.native, dividing)
        self.turns = range(1)  # numbers of the iterations that are traced now
        self.matrices: dict[
            tuple[int, int, int], Node
        ] = {}  # matrices in MatrixRf, by first tile and size

    def run(self, chain: Chain) -> None:
        """Trace a chain with all its iterations."""
        self.graph.chain += 1
        by_instruction = {access.at: access for access in accesses(chain.rows, chain.scalars)}
        writes = [access for access in by_instruction.values() if access.writes]
        if step(chain.rows[0]).elements == TILE:
            self._tiles(chain, by_instruction[0], writes[0])
            return
        window = volume(chain.scalars)
        every = range(chain.scalars["iterations"])
        groups = [every]
        if _feeds_itself(by_instruction.values(), every, window):
            groups = [range(turn, turn + 1) for turn in every]
        for turns in groups:
            self.turns = turns
            self._vectors_of(chain, by_instruction, window)

    def _vectors_of(
        self, chain: Chain, by_instruction: Mapping[int, Access], window: Volume | None
    ) -> None:
        """Trace those iterations of a chain of vectors that `self.turns` names, as one value.

        `by_instruction` maps the index of an instruction in the chain to its access to memory.
        Instructions without an access are not in it. `window` describes the image whose windows the
        chain reads, if it reads windows.
        """
        writes = [access for access in by_instruction.values() if access.writes]
        first = by_instruction[0]
        moves = not any(step(row).role == "stage" for row in chain.rows)
        if moves and first.memory.name != _QUANTISED and not first.window:
            self._move(chain, first, writes, window)
            return
        value = self._read(chain, first, window)
        follow_units = follow(chain.rows)
        from_quantised = first.memory.name == _QUANTISED
        in_pipeline = False
        for at, row in enumerate(chain.rows):
            this, place = step(row), chain.places[at]
            if this.role != "stage":
                continue
            if this.block == "product":
                value = self._product(chain, by_instruction[at], value, place)
                from_quantised = False
                continue
            if from_quantised:
                value = self._requantise(value, chain.places[0])
                from_quantised = False
            if follow_units[at] and not in_pipeline and self.mfu_in:
                value = self._requantise(value, place)
            in_pipeline = True
            value = self._function(chain, at, by_instruction.get(at), value, window)
        if from_quantised:
            value = self._requantise(value, chain.places[0])
        self._write(chain, writes, value, window)

    # --- reads of a chain ---

    def _addresses(self, access: Access, window: Volume | None) -> Ints:
        """Return the addresses of an access, in an array of shape (iterations, vectors).

        If a read takes the same cells in all iterations, the array has only one row.
        """
        begins = [access.begin(turn, window) for turn in self.turns]
        if len(set(begins)) == 1 and not access.writes and not access.memory.queue:
            begins = begins[:1]
        addresses: Ints = np.add.outer(np.array(begins, np.int64), np.arange(access.count))
        return addresses

    def _read(self, chain: Chain, access: Access, window: Volume | None) -> Node:
        if access.window and window is not None:
            return self._windows(chain, access, window)
        return self._vectors(access.memory.name, self._source(access, window))

    def _source(self, access: Access, window: Volume | None) -> Ints:
        """Return the addresses that an access reads, in the shape of `_addresses`.

        A read of a queue removes the cells from the queue.
        """
        if access.memory.name != _IN:
            return self._addresses(access, window)
        count = len(self.turns) * access.count
        addresses = np.arange(self.pop_count, self.pop_count + count, dtype=np.int64)
        self.pop_count += count
        return addresses.reshape(len(self.turns), -1)

    def _vectors(self, name: str, addresses: Ints) -> Node:
        """Return the node for a read of vectors at `addresses` of a memory.

        Cells that no chain wrote become an input.
        """
        return cells.vectors(self.graph, *self._cells(name, addresses))

    def _cells(self, name: str, addresses: Ints, pieces: Pieces = ()) -> tuple[Ints, Ints]:
        memory = self._memory(name)
        if name in (_IN, _EXTERNAL):
            self.inputs.fill(name, memory, addresses, pieces, tiles=False)
        owner, index = memory.read(addresses)
        return cells.as_vectors(self.graph, owner), index

    def _windows(self, chain: Chain, access: Access, window: Volume) -> Node:
        """Return the node for the windows of an image in memory, one window for each iteration."""
        first, last = self.turns.start, self.turns.stop
        positions = window.width * window.height
        count = positions * window.depth
        addresses = access.base + np.arange(count, dtype=np.int64).reshape(positions, -1)
        place = chain.places[access.at]
        whole = self._vectors(access.memory.name, addresses)
        if whole.rows != positions:  # the same vectors at every position
            whole = self.graph.add(
                "take", (whole,), positions, whole.blocks, lines=(0,) * positions
            )
        sides = {
            "size": (window.height, window.width),
            "kernel": (window.kernel_y, window.kernel),
            "strides": (window.stride_y, window.stride),
            "pads": (window.pad_y, window.pad),
            "dilations": (window.dilation_y, window.dilation),
        }
        every = window.across * window.down
        windows = self.graph.add("windows", (whole,), every, window.vectors, place, **sides)
        if last - first == every:
            return windows
        return self.graph.add(
            "rows", (windows,), last - first, window.vectors, start=first, stop=last
        )

    def _memory(self, name: str) -> Cells:
        return self.memories.setdefault(name, Cells())

    # --- operations of a chain ---

    def _product(self, chain: Chain, access: Access, value: Node, place: SourceInstruction) -> Node:
        """Return the node of the product of the matrix that `access` reads and the vectors `value`.

        If the address of the matrix changes with the iterations, the node stacks one product for
        each iteration.
        """
        rows, columns = chain.scalars["rows"], chain.scalars["cols"]
        iterations = len(self.turns) if access.inc else 1
        products = []
        vector = self.graph.add("quantise", (value,), value.rows, value.blocks, place)
        for i in range(iterations):
            begin = access.base + access.inc * self.turns[i]
            matrix = self._quantised_matrix(begin, rows, columns, place)
            x = vector
            if iterations > 1 and value.rows > 1:
                line = self.graph.add("rows", (value,), 1, value.blocks, start=i, stop=i + 1)
                x = self.graph.add("quantise", (line,), 1, value.blocks, place)
            products.append(self.graph.add("mv_mul", (matrix, x), x.rows, rows, place))
        result = products[0]
        if len(products) > 1:
            result = self.graph.add("stack", products, iterations, rows)
        return self._requantise(result, place) if self.mvm_out else result

    def _quantised_matrix(
        self, begin: int, rows: int, columns: int, place: SourceInstruction
    ) -> Node:
        """Return the quantised matrix of `rows` × `columns` tiles at tile `begin` of MatrixRf.

        `begin` is the tile's address in the memory MatrixRf. If the matrix is made from inputs by
        moves and quantisation alone (`Graph.early`), later calls return the same node, until
        MatrixRf is written again.
        """
        key = begin, rows, columns
        if key in self.matrices:
            return self.matrices[key]
        matrix = self._unquantised_matrix(begin, rows, columns)
        quantise = self.graph.add("quantise_matrix", (matrix,), rows, columns, place)
        if quantise.number in self.graph.early:
            self.matrices[key] = quantise
        return quantise

    def _unquantised_matrix(self, begin: int, rows: int, columns: int) -> Node:
        """Return the unquantised matrix of `rows` × `columns` tiles at tile `begin` of MatrixRf."""
        addresses = begin + np.arange(rows * columns, dtype=np.int64).reshape(rows, columns)
        return cells.tiles(self.graph, *self._memory(_MATRICES).read(addresses))

    def _requantise(self, value: Node, place: SourceInstruction) -> Node:
        return self.graph.add("requantise", (value,), value.rows, value.blocks, place)

    def _function(
        self, chain: Chain, at: int, access: Access | None, value: Node, window: Volume | None
    ) -> Node:
        does, place = step(chain.rows[at]).does, chain.places[at]
        if does == "v_quantise":
            return self._requantise(value, place)
        if access is None:
            values = {"valid": chain.scalars["valid"]} if does == "v_softmax" else {}
            return self.graph.add(does, (value,), value.rows, value.blocks, place, **values)
        other = self._read(chain, access, window)
        if self.mfu_in:
            other = self._requantise(other, place)
        rows = max(value.rows, other.rows)
        return self.graph.add(does, (value, other), rows, value.blocks, place)

    # --- writes of a chain ---

    def _name(self, writes: Sequence[Access]) -> str:
        """Return the name that a hint gives to a place to which the chain writes, or an empty text.

        If there are several such hints, the first write counts.
        """
        for access in writes:
            for hint in self.hints:
                place = hint.memory, hint.address
                if not access.memory.queue and place == (access.memory.name, access.base):
                    return hint.name
        return ""

    def _pieces(self, writes: Sequence[Access], count: int, *, tiles: bool) -> Pieces:
        """Return the hints of `.hint tensor` that lie completely in a write of `count` cells.

        Each comes with the index of its first cell in the write: (index, hint). Writes to queues,
        and writes whose iterations are not consecutive in memory, have no hints.
        """
        pieces = []
        for access in writes:
            base = access.begin(self.turns[0], None)
            follow_on = len(self.turns) == 1 or access.inc == access.count
            for hint in self.hints if follow_on and not access.memory.queue else ():
                size = hint.tiles(self.native) if tiles else hint.vectors(self.native)
                inside = base <= hint.address and hint.address + size <= base + count
                if hint.explicit and hint.memory == access.memory.name and inside:
                    pieces.append((hint.address - base, hint))
        return pieces

    def _move(
        self, chain: Chain, read: Access, writes: Sequence[Access], window: Volume | None
    ) -> None:
        """Trace a chain that only copies vectors: the copied cells refer to the same nodes."""
        addresses = self._source(read, window)
        count = len(self.turns) * read.count
        pieces = self._pieces(writes, count, tiles=False) if addresses.size == count else ()
        owner, index = self._cells(read.memory.name, addresses, pieces)
        outside = any(access.memory.name in (_OUT, _EXTERNAL) for access in writes)
        if outside and (owner == NOTHING).any():  # zeros that the program outputs must be a value
            self._write(chain, writes, cells.vectors(self.graph, owner, index), window)
            return
        whole = self.graph.nodes[int(owner[0, 0])] if owner[0, 0] != NOTHING else None
        if whole is not None and (owner == whole.number).all() and not whole.name:
            every = owner.size == whole.rows * whole.blocks
            whole.name = self._name(writes) if every else ""
        shape = len(self.turns), read.count
        owner, index = np.broadcast_to(owner, shape), np.broadcast_to(index, shape)
        self._put(chain, writes, owner, index, window)

    def _write(
        self, chain: Chain, writes: Sequence[Access], value: Node, window: Volume | None
    ) -> None:
        value.name = value.name or self._name(writes)
        index = cells.indices(value, len(self.turns))
        self._put(chain, writes, np.full(index.shape, value.number), index, window)

    def _put(
        self,
        chain: Chain,
        writes: Sequence[Access],
        owner: Ints,
        index: Ints,
        window: Volume | None,
    ) -> None:
        """Write cells to the targets of `writes`, the chain's writes to memories and queues.

        `owner` and `index` have the node number and the index of each cell, a row for each
        iteration.
        """
        into: dict[str, list[Access]] = {}
        for access in writes:
            into.setdefault(access.memory.name, []).append(access)
        for name, group in into.items():
            places = [chain.places[access.at] for access in group]
            if group[0].memory.queue:
                self._push(owner, index, places)
                continue
            # Later iterations come later in the arrays, because the last write to a cell counts.
            starts = [[access.begin(turn, window) for access in group] for turn in self.turns]
            addresses = np.add.outer(np.array(starts, np.int64), np.arange(group[0].count))
            shape = addresses.shape
            owners, indices = (np.broadcast_to(x[:, None], shape) for x in (owner, index))
            self._memory(name).copy(addresses, owners, indices)
            if name == _EXTERNAL:
                writers = np.broadcast_to(np.arange(len(places))[:, None], shape)
                for address, writer in zip(addresses.flat, writers.flat, strict=True):
                    self.write_log[int(address)] = places[writer]

    def _push(self, owner: Ints, index: Ints, places: Sequence[SourceInstruction]) -> None:
        """Append cells to the output queue NetOutQ.

        `owner` and `index` have the node number and the index of each cell, a row for each
        iteration. `places` has the chain's instructions that write to the queue. In each iteration,
        each of these instructions appends the iteration's whole row of cells.
        """
        for line in zip(owner.tolist(), index.tolist(), strict=True):
            for place in places:
                self.push_log += [(*cell, place) for cell in zip(*line, strict=True)]

    # --- tiles ---

    def _tiles(self, chain: Chain, read: Access, write: Access) -> None:
        """Trace a chain of `m_rd` and `m_wr`: it copies a matrix into or out of MatrixRf."""
        rows, columns = chain.scalars["rows"], chain.scalars["cols"]
        self.turns = range(1)
        if write.memory.name != _MATRICES:
            self._leave(chain, read, write)
            return
        pieces = self._pieces([write], rows * columns, tiles=True)
        every = np.arange(rows * columns, dtype=np.int64)
        for _ in range(chain.scalars["iterations"]):
            if read.memory.name == _EXTERNAL:
                source = self._memory(_EXTERNAL)
                places = read.base + every.reshape(rows, columns)
                self.inputs.fill(_EXTERNAL, source, places, pieces, tiles=True)
                lines = source.read(self._rows_of(places.ravel()))
                owner, index = cells.as_tiles(self.graph, *lines, rows, chain.places[0])
            else:
                begin, self.pop_count = self.pop_count, self.pop_count + len(every) * self.native
                source = self.inputs.of_queue(_IN, begin, rows, columns, pieces)
                owner, index = source.read(every)
            self._memory(_MATRICES).copy(write.base + every, owner, index)
            self.matrices.clear()

    def _rows_of(self, tiles: Ints) -> Ints:
        """Return an array with one row for each tile of Dram: the cells of its N rows."""
        return np.add.outer(tiles * self.native, np.arange(self.native))

    def _leave(self, chain: Chain, read: Access, write: Access) -> None:
        """Trace a chain that copies a matrix from MatrixRf to Dram; the copy is requantised."""
        rows, columns = chain.scalars["rows"], chain.scalars["cols"]
        place = chain.places[write.at]
        matrix = self._unquantised_matrix(read.base, rows, columns)
        requantise = self.graph.add("requantise_matrix", (matrix,), rows, columns, place)
        addresses = self._rows_of(write.base + np.arange(rows * columns, dtype=np.int64)).ravel()
        self._memory(_EXTERNAL).copy(
            addresses, np.full(addresses.shape, requantise.number), np.arange(len(addresses))
        )
        self.write_log.update(dict.fromkeys(addresses.tolist(), place))

    # --- the end ---

    def finish(self) -> None:
        """Add the outputs to the graph: the cells pushed to NetOutQ or written to Dram.

        Raises `LowerError` if there are none.
        """
        queue = np.array([item[:2] for item in self.push_log], np.int64).reshape(-1, 2)
        places = [item[2] for item in self.push_log]
        self._collect(_OUT, np.arange(len(queue)), queue, dict(enumerate(places)))
        if self.write_log:
            addresses = np.array(sorted(self.write_log), np.int64)
            owner, index = self._memory(_EXTERNAL).read(addresses)
            owner = cells.as_vectors(self.graph, owner)
            self._collect(_EXTERNAL, addresses, np.stack([owner, index], 1), self.write_log)
        if not self.graph.outputs:
            raise LowerError("the program gives nothing: it writes neither to NetOutQ nor to Dram")

    def _collect(
        self, name: str, addresses: Ints, cells_read: Ints, places: dict[int, SourceInstruction]
    ) -> None:
        """Add the outputs in one memory: those that hints name, then other cells that were written.

        Consecutive cells without a hint become one output. `cells_read` has (node number, index)
        for each of the ascending `addresses`, and `places` the instruction that wrote the cell.
        """
        at = {int(address): n for n, address in enumerate(addresses)}
        left = set(at)
        for hint in self.hints:
            count = hint.vectors(self.native)
            range_of_hint = range(hint.address, hint.address + count)
            if hint.memory == name and all(address in left for address in range_of_hint):
                self._output(
                    hint,
                    [cells_read[at[a]] for a in range_of_hint],
                    [places[a] for a in range_of_hint],
                )
                left.difference_update(range_of_hint)
        rest = sorted(left)
        while rest:
            count = 1
            while count < len(rest) and rest[count] == rest[0] + count:
                count += 1
            run, rest = rest[:count], rest[count:]
            blocks = self._blocks([cells_read[at[a]] for a in run])
            hint = Hint(
                f"{name.lower()}_{run[0]}", name, run[0], count // blocks, blocks * self.native
            )
            self._output(hint, [cells_read[at[a]] for a in run], [places[a] for a in run])

    def _blocks(self, cells_read: Sequence[Ints]) -> int:
        """Return the number of native vectors in a row of an unnamed output.

        `cells_read` has (node number, index) for each cell of the output. If the values of all
        these nodes have rows of the same length, and this length divides the output, the result is
        this length. Otherwise it is 1.
        """
        sizes = {self.graph.nodes[int(owner)].blocks for owner, _ in cells_read}
        size = sizes.pop()
        return size if not sizes and len(cells_read) % size == 0 else 1

    def _output(
        self, hint: Hint, cells_read: Sequence[Ints], places: Sequence[SourceInstruction]
    ) -> None:
        blocks = -(-hint.columns // self.native)
        pairs = np.array(cells_read, np.int64).reshape(hint.rows, blocks, 2)
        node = cells.vectors(self.graph, pairs[..., 0], pairs[..., 1])
        if node.rows != hint.rows:
            node = self.graph.add("take", (node,), hint.rows, blocks, lines=(0,) * hint.rows)
        tensor = Tensor(hint.name, hint.rows, hint.columns, "vectors", hint.memory, hint.address)
        self.graph.outputs.append(Output(tensor, node, places))


def _feeds_itself(accesses: Iterable[Access], turns: range, window: Volume | None) -> bool:
    """Return whether an iteration of a chain reads external memory that an earlier one has written.

    `turns` has the numbers of the iterations, `accesses` the chain's reads and writes of memories,
    and `window` the chain's window, if it has one.
    """
    external = [access for access in accesses if access.memory.name == _EXTERNAL]
    if len(turns) == 1 or not any(access.writes for access in external):
        return False
    writes_so_far: set[int] = set()
    for turn in turns:
        for access in external:
            if not access.writes and writes_so_far.intersection(access.addresses(turn, window)):
                return True
        for access in external:
            if access.writes:
                begin = access.begin(turn, window)
                writes_so_far.update(range(begin, begin + access.count))
    return False
