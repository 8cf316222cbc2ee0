"""Make the files of the network: weights, biases, an input, and the weights in shuffled orders.

The order of the whole net is the one of seed 002 ¶107, ¶108: 0, 3, 1, 2; the others are drawn.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import macaw

HERE = Path(__file__).parent
NET = (0, 3, 1, 2)  # input i meets stored weight NET[i]
SCOPES = {"layer": "layer", "group": "group:2", "node": "node"}


def save(name: str, array: object) -> None:
    """Write an array beside this file."""
    np.save(HERE / f"{name}.npy", np.asarray(array))


def main() -> None:
    """Write all files of the network."""
    chance = np.random.default_rng(8)
    weights = [chance.normal(size=(nodes, 4)).astype(np.float32) for nodes in (4, 2)]
    for number, layer in enumerate(weights, 1):
        save(f"w{number}", layer)
        stored = np.empty_like(layer)
        stored[:, NET] = layer
        save(f"net{number}", stored)
    save("order_net", np.array([[NET]], np.uint8))
    save("b", chance.normal(size=6).astype(np.float32))
    save("x", np.array([0.5, -1.25, 2.0, 0.75], np.float32))
    for seed, (name, scope) in enumerate(SCOPES.items(), 1):
        found = macaw.protect(*weights, scope=scope, lanes=4, seed=seed)
        for number, layer in enumerate(found.weights, 1):
            save(f"{name}{number}", layer)
        save(f"order_{name}", found.order)


if __name__ == "__main__":
    main()
