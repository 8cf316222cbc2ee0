# Compares the layer that the array computed with that of NumPy: python check.py
import macaw
import numpy as np

weights = np.load("weights.npy").astype(np.int32)
x = np.load("x.npy")
run = macaw.run("layer.s", x=x)
print("NumPy:", weights @ x)
print("Macaw:", run.outputs["y"], "in", run.cycles, "cycles")
print("multiplications:", run.counters["pe[0]"]["macs"], "of", weights.size)
