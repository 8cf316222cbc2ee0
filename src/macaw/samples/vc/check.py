# Compares the product that vc computed with that of NumPy: python check.py
import macaw
import numpy as np

weights = np.load("weights.npy").astype(np.int32)
x = np.load("x.npy")
run = macaw.run("dot.s", x=x)
print("NumPy:", weights @ x)
print("Macaw:", run.outputs["y"][0], "in", run.cycles, "cycles")
