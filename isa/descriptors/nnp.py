"""The descriptor of nnp, the matrix-vector processor: its names, core number and settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from macaw.isa.model import AddressUnit, CoreDescriptor, Setting
from macaw.isa.nnp_elements import MX_ELEMENTS

HOST_BYTES = {"fp16": 2, "fp32": 4}  # bytes of a number, by nnp.host_format
MOST_TILE_BYTES = 512 << 20  # bytes of MatrixRf; an element has two

# fmt: off
SETTINGS = (
    Setting("nnp.native",              32,     "the native dimension N: elements of a vector, rows and columns of a tile",       "elements",         1, 1024),
    Setting("nnp.lanes",               8,      "elements of a row that a tile engine multiplies in a cycle",                 "elements",         1, 1024),
    Setting("nnp.engines",             4,      "tile engines",                                                                   "",                 1, 64),
    Setting("nnp.mapping",             "tiles", "what decides which tile engine multiplies a tile: its number, its row or its column", choices=("tiles", "rows", "columns")),
    Setting("nnp.divider",             1,      "device cycles to a cycle of nnp",                                                "cycles",           1, 64),
    Setting("nnp.megahertz",           250,    "clock, where cycles are shown as time",                                          "MHz",              1, 10000),
    Setting("nnp.host_format",         "fp16", "format of numbers outside the multiplier",                                                 choices=("fp16", "fp32")),
    Setting("nnp.quantise",            "bfp",  "kind of numbers in the multiplier",                                                      choices=("bfp", "int", "log", "float", "mx")),
    Setting("nnp.vector_bits",         16,     "size of a vector's element: its mantissa, integer or logarithm",                          "bits",             3, 16),
    Setting("nnp.matrix_bits",         16,     "size of a matrix's element: its mantissa, integer or logarithm",                          "bits",             3, 16),
    Setting("nnp.float_exponent_bits", 4,      "exponent of an element of the kind float",                                               "bits",             2, 5),
    Setting("nnp.float_mantissa_bits", 3,      "mantissa of an element of the kind float",                                               "bits",             1, 10),
    Setting("nnp.vector_element",      "e4m3", "element type of vectors in mx, the microscaling formats of OCP",                 choices=tuple(MX_ELEMENTS)),
    Setting("nnp.matrix_element",      "e4m3", "element type of matrices in mx",                                                 choices=tuple(MX_ELEMENTS)),
    Setting("nnp.mx_block",            32,     "elements that share a scale in mx (OCP's formats have 32)",                      "elements",         1, 1024),
    Setting("nnp.quantise_mvm_out",    False,  "whether what leaves the multiplier is quantised again (seed 003, Fig. 2)"),
    Setting("nnp.quantise_mfu_in",     False,  "whether operands of the multi-function units are quantised"),
    Setting("nnp.matrix_rf",           1024,   "capacity of the register file MatrixRf",                                         "native tiles",     1, 65536),
    Setting("nnp.initial_vrf",         4096,   "capacity of the register file InitialVrf",                                       "native vectors",   1, 65536),
    Setting("nnp.mul_vrf",             4096,   "capacity of the register file MulVrf",                                           "native vectors",   1, 65536),
    Setting("nnp.add_sub_vrf0",        4096,   "capacity of the register file AddSubVrf0",                                       "native vectors",   1, 65536),
    Setting("nnp.add_sub_vrf1",        4096,   "capacity of the register file AddSubVrf1",                                       "native vectors",   1, 65536),
    Setting("nnp.net_in",              64,     "capacity of the queue NetInQ",                                                   "native vectors",   1, 4096),
    Setting("nnp.net_out",             64,     "capacity of the queue NetOutQ",                                                  "native vectors",   1, 4096),
    Setting("nnp.instructions",        65536,  "size of the instruction memory",                                                             "instructions",     16, 131072),
    Setting("nnp.issue_cycles",          1,      "from the issue of an instruction to that of the next one",                                              "cycles",           1, 1024),
    Setting("nnp.read_depth",            8,      "stages of reading vectors",                                                       "cycles",           1, 1024),
    Setting("nnp.multiplier_depth",      32,     "stages of the matrix-vector multiplier",                                          "cycles",           1, 1024),
    Setting("nnp.crossbar_depth",        4,      "stages of a multi-function unit, whichever of its blocks work",                     "cycles",           1, 1024),
    Setting("nnp.add_depth",             4,      "stages of a block that adds",                                                     "cycles",           1, 1024),
    Setting("nnp.multiply_depth",        4,      "stages of the block that multiplies",                                             "cycles",           1, 1024),
    Setting("nnp.activation_depth",      8,      "stages of a block that activates",                                                "cycles",           1, 1024),
    Setting("nnp.softmax_depth",         32,     "stages of v_softmax",                                                             "cycles",           1, 1024),
    Setting("nnp.quantise_depth",        4,      "stages of v_quantise",                                                            "cycles",           1, 1024),
    Setting("nnp.write_depth",           8,      "stages of writing vectors",                                                       "cycles",           1, 1024),
    Setting("nnp.vector_lanes",          8,      "elements that reading, writing and each multi-function unit process in a cycle",                  "elements",         1, 1024),
    Setting("nnp.vector_channels",     1,      "channels of external memory to the vector memory manager (C of seed 003)",       "",                 1, 64),
    Setting("nnp.matrix_channels",     1,      "channels of external memory to the matrix memory manager (M of seed 003)",       "",                 1, 64),
)
# fmt: on


def too_many_tiles(config: Mapping[str, Any]) -> str:
    """Return an error sentence if MatrixRf, the memory of tiles, is too large to simulate, else ""."""
    tiles, native = config["nnp.matrix_rf"], config["nnp.native"]
    if 2 * tiles * native * native <= MOST_TILE_BYTES:
        return ""
    return (
        f"{tiles} tiles (nnp.matrix_rf) of {native} x {native} (nnp.native) are more than the"
        f" {MOST_TILE_BYTES >> 20} MiB that can be simulated"
    )


def broken_blocks(config: Mapping[str, Any]) -> str:
    """Return an error sentence if a native vector consists of mx blocks of unequal length, else "".

    A native vector that is not longer than a block is one block.
    """
    block, native = config["nnp.mx_block"], config["nnp.native"]
    if config["nnp.quantise"] != "mx" or native <= block or native % block == 0:
        return ""
    return (
        f"a native vector of {native} elements (nnp.native) does not consist of whole blocks of"
        f" {block} (nnp.mx_block)"
    )


def vector_bytes(config: Mapping[str, Any]) -> int:
    """Return the size in bytes of a native vector in the number format of memory."""
    return int(config["nnp.native"]) * HOST_BYTES[config["nnp.host_format"]]


def tile_bytes(config: Mapping[str, Any]) -> int:
    """Return the size in bytes of a native tile in the number format of memory."""
    return int(config["nnp.native"]) * vector_bytes(config)


DESCRIPTOR = CoreDescriptor(
    name="nnp",
    title="block-floating-point matrix-vector processor",
    number=3,
    section=".nnp",
    executable=True,
    settings=SETTINGS,
    agreements=(too_many_tiles, broken_blocks),
    address_units=(
        AddressUnit("vec", "native vector", vector_bytes),
        AddressUnit("tile", "native tile", tile_bytes),
    ),
)
