"""Fine-tune the digits network for mantissas of three bits, through the module that macaw writes.

    python programs/digits_nnp/finetune.py

`macaw concord --target torch` gives a `torch.nn.Module` whose results are those of the processor
and whose gradients pass the quantisers straight through. The script trains it on the 1,397 training
images, starting with the network's own weights, and writes those of the last epoch to
three_bits.npz. The test images are used for nothing but the two figures that it prints. Needs
PyTorch and scikit-learn. The same machine and versions give the same bytes each time.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import reference
import torch

import macaw

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from digits_data import PIXEL_MAX, load_split  # noqa: E402 - needs the path above

WIDTH, IMAGES = 3, 400  # mantissa bits; images of a run of the program
EPOCHS, RATE = 60, 0.002


def parameters() -> dict[str, np.ndarray[Any, Any]]:
    """The network's weights and biases by their names in the program, without padding."""
    weights, biases = reference.load()
    rows = (64, 64, reference.CLASSES)
    named = {f"W{k + 1}": weight[: rows[k]] for k, weight in enumerate(weights)}
    return named | {f"b{k + 1}": bias[: rows[k]] for k, bias in enumerate(biases)}


def main(path: Path) -> None:
    """Train, print the accuracy before and after, and write the weights to a file."""
    torch.manual_seed(1)
    torch.set_num_threads(1)
    device = macaw.configuration("base").changed(
        {"nnp.vector_bits": WIDTH, "nnp.matrix_bits": WIDTH}
    )
    software = macaw.concord(HERE / "digits_nnp.s", "torch", device=device)
    space: dict[str, Any] = {"__name__": "digits_layer"}
    exec(software.text, space)
    module = space["Layer"](parameters())
    split = load_split()
    pixels = torch.tensor(split.pixels / PIXEL_MAX, dtype=torch.float16)
    labels = torch.tensor(split.labels.astype(np.int64))
    images, answers = reference.test_set()

    def accuracy() -> float:
        with torch.no_grad():
            guesses = module(x=torch.from_numpy(images))["y"].argmax(dim=1).numpy()
        return float((guesses == answers).mean())

    print(f"before: {accuracy():.2%} of the test images")
    optimiser = torch.optim.Adam(module.parameters(), lr=RATE)
    batches = len(labels) // IMAGES
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, EPOCHS * batches)
    for epoch in range(EPOCHS):
        order = torch.randperm(len(labels))
        for start in range(0, batches * IMAGES, IMAGES):
            chosen = order[start : start + IMAGES]
            logits = module(x=pixels[chosen])["y"]
            loss = torch.nn.functional.cross_entropy(logits, labels[chosen])
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1}: loss {loss.item():.4f}")
    print(f"after: {accuracy():.2%} of the test images")
    np.savez(path, **module.weights())


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "three_bits.npz")
