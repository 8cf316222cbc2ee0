"""Forms chains of nnp from operations. An operation extends the chain that computes its input.

A chain is a sequence of instructions: it reads vectors, sends them through some of nnp's units, and
writes the results. An operation extends a chain only if no other operation reads that input, and if
one of the units still has a free block for the operation. A chain is executed at the place of its
last operation, when all its operands have been computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field, replace

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.nnp import operations as ops
from macaw.lowering.nnp.operations import Model, Operation, Phase, Place, Tensor, Window

MULTIPLIER, MFU0, MFU1 = range(3)
ACTIVATIONS = (ops.SIGMOID, ops.TANH, ops.RELU, ops.SOFTMAX)
SUMS = (ops.ADD, ops.SUBTRACT, ops.MAXIMUM)
EDGES = ("inputs", "outputs")  # layers of operations that belong to no node
REVERSED = "reversed subtract"  # the operand minus the chain's vectors
# by kind of operation: the block that it takes, and the units that have this block
_UNITS = {
    ops.PRODUCT: ("product", (MULTIPLIER,)),
    ops.MULTIPLY: ("multiply", (MFU0,)),
    ops.SOFTMAX: ("activate", (MFU0,)),
    **dict.fromkeys((ops.SIGMOID, ops.TANH, ops.RELU), ("activate", (MFU0, MFU1))),
    **dict.fromkeys((*SUMS, REVERSED), ("add", (MFU0, MFU1))),
}


@dataclass(frozen=True)
class Function:
    """An instruction of a chain between reading and writing.

    `kind` is the kind of the operation, `unit` the number of the unit that executes it, and
    `operand` the place of its second operand. A product has the name of its `matrix`, a softmax the
    number `valid` of its elements.
    """

    kind: str  # the kind of the operation
    unit: int
    operand: Place | None = None  # the second operand
    matrix: str = ""  # the name of a product's matrix
    valid: int = 0  # the number of elements of a softmax


@dataclass(frozen=True)
class Chain:
    """A chain: it reads `source`, applies `functions`, and writes the result to all `writes`.

    `layers` are the names of the nodes that it computes. A chain can instead load a matrix: it
    copies the tiles at `source` to the matrix `matrix`, and writes nothing else. In other chains,
    `matrix` is empty.
    """

    layers: tuple[str, ...]
    source: Place
    functions: tuple[Function, ...]
    writes: tuple[Place, ...]
    window: Window | None  # the windows by which `source` is read
    matrix: str

    @property
    def layer(self) -> str:
        """The name of the first node that the chain computes; if none, "inputs" or "outputs"."""
        return next((name for name in self.layers if name not in EDGES), self.layers[0])

    @property
    def product(self) -> str:
        """The name of the matrix that the chain multiplies by; empty if it has no product."""
        return next((item.matrix for item in self.functions if item.kind == ops.PRODUCT), "")


@dataclass(frozen=True)
class ChainPhase:
    """Chains that are executed `steps` times. Each time step executes all chains in their order."""

    chains: tuple[Chain, ...]
    steps: int


@dataclass
class _Draft:
    """A chain that may still grow, with the fields of `Chain`.

    `open` says whether an operation may extend the chain: not if the chain loads a matrix, or
    already writes a copy of its result.
    """

    layers: list[str]
    source: Place
    functions: list[Function]
    writes: list[Place]
    window: Window | None = None
    matrix: str = ""
    open: bool = True

    def frozen(self) -> Chain:
        layers = tuple(dict.fromkeys(self.layers))
        return Chain(
            layers, self.source, tuple(self.functions), tuple(self.writes), self.window, self.matrix
        )


@dataclass
class _Former:
    """Forms the chains of one phase.

    `single` has the tensors that one operation writes and one operation reads, both in this phase.
    `readers` counts the operations that read each tensor. `drafts` are the chains so far, in order.
    """

    tensors: Mapping[str, Tensor]
    single: frozenset[str]  # tensors with one writing and one reading operation, both in this phase
    readers: Counter[str]  # by tensor: the number of operations that read it
    drafts: list[_Draft] = field(default_factory=list)  # the chains so far, in order

    def form(self, operations: Iterable[Operation]) -> list[Chain]:
        """Form chains of `operations`, and return all chains of the phase in order."""
        for operation in operations:
            if operation.kind == ops.TILES:
                source = operation.inputs[0]
                layers = [operation.layer]
                self.drafts.append(
                    _Draft(layers, source, [], [], matrix=operation.matrix, open=False)
                )
            elif not self._extend(operation) and not self._multicast(operation):
                self._begin(operation)
        return [draft.frozen() for draft in self.drafts]

    def _extend(self, operation: Operation) -> bool:
        """Append an operation to the latest chain that computes one of its inputs.

        Return False if no chain can take the operation.
        """
        assert operation.output is not None
        for draft in reversed(self.drafts):
            if not draft.open or draft.writes[0].tensor not in self.single:
                continue
            for index, place in enumerate(operation.inputs):
                if place != draft.writes[0] or not self._may_move(draft):
                    continue
                other = operation.inputs[1 - index] if len(operation.inputs) == 2 else None
                if other == place or not _windows_fit(draft, operation, other):
                    continue
                function = _function(operation, index, draft.functions)
                if function is None and operation.kind != ops.COPY:
                    continue
                draft.functions += [function] if function else []
                draft.layers.append(operation.layer)
                draft.writes = [operation.output]
                self.drafts.remove(draft)
                self.drafts.append(draft)
                return True
        return False

    def _may_move(self, draft: _Draft) -> bool:
        """Return whether a chain may run after all other chains instead of at its place.

        A chain that reads NetInQ may not move if a later chain also reads NetInQ, because a queue
        gives its vectors in order.
        """
        if self.tensors[draft.source.tensor].memory != ops.NET_IN:
            return True
        later = self.drafts[self.drafts.index(draft) + 1 :]
        return not any(self.tensors[item.source.tensor].memory == ops.NET_IN for item in later)

    def _multicast(self, operation: Operation) -> bool:
        """Let the chain that makes a copy's input also write the copy. Return whether it can."""
        if operation.kind != ops.COPY or operation.window is not None:
            return False
        source, output = operation.inputs[0], operation.output
        assert output is not None
        for at, draft in enumerate(self.drafts):
            if draft.matrix or source not in draft.writes or source.step:
                continue
            queue = self.tensors[output.tensor].memory == ops.NET_OUT
            if queue and any(self._pushes(item) for item in self.drafts[at:]):
                return False
            draft.writes.append(output)
            draft.layers.append(operation.layer)
            draft.open = False
            self.readers[source.tensor] -= 1
            return True
        return False

    def _pushes(self, draft: _Draft) -> bool:
        return any(self.tensors[place.tensor].memory == ops.NET_OUT for place in draft.writes)

    def _begin(self, operation: Operation) -> None:
        assert operation.output is not None
        index = 0
        if len(operation.inputs) == 2:
            # a constant, or rows that repeat, are operands; a chain begins with the other input
            first, second = operation.inputs
            tensor = self.tensors[first.tensor]
            repeats = first.stride == 0 and first.count > 1 and second.stride
            index = 1 if tensor.constant is not None or repeats else 0
        function = _function(operation, index, [])
        self.drafts.append(
            _Draft(
                [operation.layer], operation.inputs[index], [function] if function else [],
                [operation.output], operation.window,
            )
        )  # fmt: skip


def _windows_fit(draft: _Draft, operation: Operation, other: Place | None) -> bool:
    """Return whether an operation with the second operand `other` can extend a chain.

    An operation with windows can only extend a chain with the same windows. An operation without
    windows can extend any chain, with one exception: the chain has windows that are not sequential
    (`Window.sequential`), and `other` is another row in each iteration.
    """
    if operation.window is not None:
        return draft.window == operation.window
    sliding = draft.window is not None and not draft.window.sequential
    return not sliding or other is None or other.stride == 0 or other.count == 1


def _function(operation: Operation, index: int, before: list[Function]) -> Function | None:
    """Return the operation as the next function of a chain; None if no block is left for it.

    Input number `index` of the operation is the chain's vectors. `before` has the functions of the
    chain.
    """
    kind = operation.kind
    if kind == ops.COPY:
        return None
    if kind == ops.SUBTRACT and index == 1:
        kind = REVERSED
    block, units = _UNITS[kind]
    last = max((item.unit for item in before), default=MULTIPLIER)
    if kind == ops.PRODUCT and before:
        return None
    taken = {(item.unit, _UNITS[item.kind][0]) for item in before}
    other = operation.inputs[1 - index] if len(operation.inputs) == 2 else None
    for unit in units:
        if unit >= last and (unit, block) not in taken:
            return Function(kind, unit, other, operation.matrix, operation.valid)
    return None


def form_chains(model: Model) -> tuple[ChainPhase, ...]:
    """Return the chains of a model, phase by phase."""
    model = _streamed(model)
    readers: Counter[str] = Counter()
    writers: Counter[str] = Counter()
    homes: dict[str, set[int]] = {}
    for number, phase in enumerate(model.phases):
        for operation in phase.operations:
            read = [place.tensor for place in operation.inputs]
            written = [operation.output.tensor] if operation.output else []
            readers.update(read)
            writers.update(written)
            for name in (*read, *written):
                homes.setdefault(name, set()).add(number)
    single = frozenset(
        name
        for name in model.tensors
        if readers[name] == writers[name] == 1
        and len(homes[name]) == 1
        and not model.tensors[name].memory
        and model.tensors[name].slots == 1
    )
    phases = [
        ChainPhase(
            tuple(_Former(model.tensors, single, readers).form(phase.operations)), phase.steps
        )
        for phase in model.phases
    ]
    return tuple(_without_unread(phase, model.tensors, readers) for phase in phases)


def _without_unread(
    phase: ChainPhase, tensors: Mapping[str, Tensor], readers: Counter[str]
) -> ChainPhase:
    """Return the phase without writes to tensors that nothing reads.

    `readers` counts the operations that read each tensor.
    """

    def is_read(place: Place) -> bool:
        return bool(readers[place.tensor] or tensors[place.tensor].memory)

    chains = [replace(chain, writes=tuple(filter(is_read, chain.writes))) for chain in phase.chains]
    return ChainPhase(tuple(c for c in chains if c.writes or c.matrix), phase.steps)


def _streamed(model: Model) -> Model:
    """Return the model, changed if its last time loop can send its results to NetOutQ step by step.

    Before the change, the loop writes its results to a tensor, which a copy after the loop sends to
    NetOutQ. The change removes this copy. The model is returned unchanged if the loop is not
    followed by this copy alone, if the steps do not write the whole tensor in the order of its
    rows, if another operation reads or writes the tensor, or if the model has several outputs.
    """
    if len(model.outputs) != 1 or len(model.phases) < 2 or model.phases[-2].steps == 1:
        return model
    *before, loop, last = model.phases
    copy = last.operations[-1]
    if copy.kind != ops.COPY or len(last.operations) != 1:
        return model
    name = copy.inputs[0].tensor
    everything = [operation for phase in model.phases for operation in phase.operations]
    readers = [item for item in everything if any(p.tensor == name for p in item.inputs)]
    writers = [item for item in everything if item.output and item.output.tensor == name]
    if len(readers) != 1 or len(writers) != 1 or writers[0] not in loop.operations:
        return model
    place, whole = writers[0].output, copy.inputs[0]
    assert place is not None
    assert copy.output is not None
    in_order = place.stride == place.vectors and place.step == place.count * place.stride
    in_order = in_order or (place.count == 1 and place.step == place.vectors)
    covered = whole.count * whole.vectors == model.tensors[name].vectors
    if place.first or whole.first or not in_order or not covered:
        return model
    target = replace(place, tensor=copy.output.tensor)
    body = tuple(
        replace(item, output=target) if item is writers[0] else item for item in loop.operations
    )
    return replace(model, phases=(*before, Phase(body, loop.steps)))
