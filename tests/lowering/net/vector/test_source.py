"""The sources of vc's operations: names and labels."""

from __future__ import annotations

import re

from macaw.lowering.net.symbols import layer_symbols
from macaw.lowering.net.vector.operations import (
    AveragePool,
    Concat,
    MaxPool,
    Pad,
    Resize,
    Table,
)
from macaw.lowering.net.vector.source import VectorLinkage, describe, vector_subroutine

OPERATIONS = (
    AveragePool("int8", (4, 4, 3), (3, 3), pads=(1, 1, 1, 1)),
    Concat("int8", ((4,), (5,)), 0, (0.5, 0.3)),
    MaxPool("int8", (9, 9, 3), (5, 5)),
    Pad("int8", (4,), (1,), (0,)),
    Resize("int8", (4, 4, 3), (6, 6)),
    Table("int8", (4,), (0,) * 256),
)


def source(operation) -> str:
    inputs = tuple(f"in_{number}" for number in range(len(operation.inputs)))
    return vector_subroutine(
        operation, "layer", VectorLinkage("layer", inputs, "out"), limits=()
    ).source


def test_no_label_is_the_symbol_of_a_layer():
    """No label of an operation may be the symbol of a layer, which would then be defined twice."""
    labels = {
        name
        for operation in OPERATIONS
        for pair in re.findall(r"^([A-Za-z_]\w*):|\.view +(\w+)", source(operation), re.M)
        for name in pair
        if name
    } - {"layer"}
    assert {"vc_x1", "vc_copy0", "vc_scratch1", "vc_rows_2", "vc_zeros", "vc_fill"} <= labels
    assert {"vc_table", "run_vc", "y", "vc_scratch"} <= labels
    assert not labels & set(layer_symbols(labels, others=()).values())


def test_the_source_begins_with_what_it_computes():
    assert describe(OPERATIONS[1]) == "Concat of int8: 4 and 5 to 9"
    assert source(OPERATIONS[1]).startswith("# layer.s - Concat of int8: 4 and 5 to 9. Written by")


def test_an_average_has_no_instruction_for_quarters_that_it_lacks():
    """An average of bytes converts four registers of sums, an average of int16 two."""
    for dtype, registers in (("int8", 4), ("int16", 2)):
        text = source(AveragePool(dtype, (4, 4, 3), (3, 3)))
        codes = set(re.findall(r"vcvt\.f32\.w +(.*)", text))
        assert len(codes) == registers
