"""Random programs in all four targets: `python -m tests.lower.concord [PROGRAMS]`.

The tests run NumPy and onnxruntime; this is for PyTorch and TensorFlow, which are large
(`make test-extras`). Ends with status 1 at the first bit that differs.
"""

import os
import sys
import time

import numpy as np

from asm.source import Source
from lower.concord.arithmetic import TARGETS
from macaw import api, concordance, differences
from macaw.errors import RunError
from tests.lower.concord import programs


def main(count: int) -> int:
    seconds, elements, faults = dict.fromkeys(TARGETS, 0.0), 0, 0
    for seed in range(count):
        rng = np.random.default_rng(seed)
        config = programs.device(rng)
        chains, repeats = int(rng.integers(1, 10)), int(rng.choice([1, 1, 2, 3]))
        text = programs.program(rng, config, chains, repeats)
        program = api.assemble(Source(text, f"random{seed}.s"), device=config)
        data, emulated = None, {}
        for target in TARGETS:
            found = concordance.concord(program, target)
            if data is None:
                data = programs.tensors(rng, found)
                try:
                    emulated = found.emulate(data)
                except RunError:  # a NaN at a quantiser, a sum that leaves the accumulator
                    faults += 1
                    break
                elements += sum(array.size for array in emulated.values())
            start = time.perf_counter()
            given = found.run(data)
            seconds[target] += time.perf_counter() - start
            for name, array in emulated.items():
                if not differences.same(array, given[name]).all():
                    print(f"{target}: program {seed} differs in {name}\n{text}")
                    return 1
    print(
        f"{count} random programs ({faults} of them fault), {elements} elements, the same bits in"
    )
    for target in TARGETS:
        print(f"    {target:<11} {seconds[target]:6.1f} s")
    return 0


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100))
