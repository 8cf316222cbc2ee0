"""The digits convolutional network on the whole test set, on the emulated device: `make demo-cnn`.

Runs `digits_cnn.s` once for each group of eighty images, compares every logit with the
NumPy reference, and prints accuracy, MACs and cycles. Exits with 1 if a logit differs.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import reference
from digits_demo import demonstrate

RUN = 80  # images


def main() -> int:
    """Run the test set; return 0 if every output is the reference's, else 1."""
    images, labels = reference.load_test_set()
    network = reference.load()
    expected = reference.forward(images, network).reshape(-1, RUN, 10)
    dense = reference.dense_macs(network, images)
    runs = images.reshape(-1, RUN, 8, 8)
    return demonstrate(Path(__file__).with_name("digits_cnn.s"), runs, labels, expected, dense)


if __name__ == "__main__":
    sys.exit(main())
