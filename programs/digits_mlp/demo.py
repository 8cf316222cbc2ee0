"""The digits perceptron on the whole test set, on the emulated device: `make demo`.

Runs `digits_mlp.s` once for each group of eighty images, compares every logit with the
NumPy reference, and prints accuracy, MACs and cycles. Exits with 1 if a logit differs.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import reference
from digits_demo import demonstrate


def main() -> int:
    """Run the test set; return 0 if every output is the reference's, else 1."""
    images, labels = reference.load_test_set()
    expected = reference.forward(images)
    dense = sum(reference.macs(images).dense)
    return demonstrate(
        Path(__file__).with_name("digits_mlp.s"), images, labels.ravel(), expected, dense
    )


if __name__ == "__main__":
    sys.exit(main())
