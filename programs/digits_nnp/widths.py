"""Accuracy of the digits network by the width of its mantissas; the emulator runs every width.

    python programs/digits_nnp/widths.py            # the table of the README

All 400 logit vectors of a width must equal the reference's, bit for bit.
"""

import time

import numpy as np
import reference

import macaw

WIDTHS = range(3, 17)


def main() -> None:
    """Print the table."""
    images, labels = reference.test_set()
    base = macaw.configuration("base")
    exact = images.astype(np.float64)
    for k, (weight, bias) in enumerate(zip(*reference.load(), strict=True)):
        exact = exact @ weight.astype(np.float64).T + bias.astype(np.float64)
        exact = np.maximum(exact, 0) if k < 2 else exact[:, : reference.CLASSES]
    print("| mantissa bits | right | accuracy | as binary64 | largest difference of a logit |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    begun = time.process_time()
    for width in WIDTHS:
        device = base.changed({"nnp.vector_bits": width, "nnp.matrix_bits": width})
        program = macaw.assemble(reference.HERE / "digits_nnp.s", device=device)
        given = images.reshape(-1, reference.NATIVE)
        y = macaw.run(program, x=given).outputs["y"][:, : reference.CLASSES]
        assert y.tobytes() == reference.logits(images, width).tobytes(), width
        digits = y.argmax(axis=1)
        right = int((digits == labels).sum())
        same = int((digits == exact.argmax(axis=1)).sum())
        away = np.abs(y - exact).max()
        print(f"| {width} | {right} | {right / len(labels):.2%} | {same} | {away:.2g} |")
    digits = exact.argmax(axis=1)
    right = int((digits == labels).sum())
    print(f"| binary64 | {right} | {right / len(labels):.2%} | {len(labels)} | 0 |")
    print(f"\n{time.process_time() - begun:.1f} s")


if __name__ == "__main__":
    main()
