"""The PE array's sparse products beside SciPy's: effective MACs a second.

A MAC is effective if neither weight nor activation is zero. The array is emulated cycle by
cycle; SciPy only computes the result, which both have to have alike.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median

import numpy as np

import macaw
from benchmarks.measure import ROUNDS, table, thousands, timed
from emu.device import Device

ROWS = 64  # of the matrix: one each PE of a row of `base`
COLUMNS = {1: 448, 4: 64}  # by the number of vectors: what the input buffers hold
DENSITY = 0.25
REPEATED = 200  # SciPy's products a measurement

SOURCE = """
        .device base
        .input  x, int8, {count}, {columns}
        .output y, int32, {count}, {rows}
        .core   pe, row=0
w:      .sparse "w.npy"
        .seq    products
{loads}
          ld    weights
{products}
        .endseq
        .seq    finish
{stores}
        .endseq
        config  ib=0, products
        config  ib=1, finish
        exe     ib=0, last, data=({data}, w[0])
        exe     ib=1, last, out={out}
"""


def source(count: int) -> str:
    """The product of the matrix with so many vectors, an accumulator each."""
    loads = [f"          ld    activations, base={x}" for x in range(count)]
    products = [f"          mac   base={x}, acc={x}" for x in range(count)]
    products += [f"          spu   nonsf, src={x}, dst={x}" for x in range(count)]
    return SOURCE.format(
        count=count,
        columns=COLUMNS[count],
        rows=ROWS,
        loads="\n".join(loads),
        products="\n".join(products),
        stores="\n".join(f"          st    base={x}" for x in range(count)),
        data=", ".join(f"x[{x}]" for x in range(count)),
        out=f"(y[0:{count}], stride=4, step={4 * ROWS}, pes={ROWS})" if count > 1 else "y",
    )


def main() -> None:
    """Measure and print."""
    print("### The PE array\n")
    print("Thousands of effective MACs a second; emulating every cycle against the result alone.\n")
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for what, count in (("spmv", 1), ("spmm, 4 vectors", 4)):
            rows.append([what, *measured(Path(name), count)])
    print(table(["", "MACs", "device cycles", "macaw", "SciPy"], rows))


def measured(folder: Path, count: int) -> list[str]:
    """MACs and cycles of a product, and the rates of both."""
    from scipy.sparse import csr_array

    random = np.random.default_rng(1)
    shape = (ROWS, COLUMNS[count])
    weights = random.integers(-128, 128, shape) * (random.random(shape) < DENSITY)
    vectors = random.integers(1, 128, (count, shape[1])).astype(np.int8)
    np.save(folder / "w.npy", weights.astype(np.int8))
    path = folder / "bench.s"
    path.write_text(source(count))
    program = macaw.assemble(path)
    macs = int(np.count_nonzero(weights)) * count
    matrix = csr_array(weights.astype(np.int32))
    wide = vectors.astype(np.int32).T.copy()
    expected = (matrix @ wide).T
    times, peers = [], []
    for _ in range(ROUNDS):
        device = Device(macaw.configuration("base"))
        device.load(program)
        device.write_tensor("x", vectors)
        times.append(timed(device.run))
        assert np.array_equal(device.read_tensor("y"), expected)
        peers.append(timed(lambda: [matrix @ wide for _ in range(REPEATED)]) / REPEATED)
    ours, theirs = macs / median(times), macs / median(peers)
    return [f"{macs:,}", f"{device.cycle:,}", thousands(ours), thousands(theirs)]


if __name__ == "__main__":
    main()
