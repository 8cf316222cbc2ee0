# Compares the layer that nnp computed with that of NumPy: python check.py
import macaw
import numpy as np

weights = np.hstack(np.load("matrix.npy")).astype(np.float64)  # two tiles side by side
bias = np.load("bias.npy")
x = np.load("x.npy")
run = macaw.run("dense.s", x=x)
exact = np.maximum(x.reshape(3, 8) @ weights.T + bias, 0)
print(f"NumPy:\n{exact}")
print(f"Macaw, in {run.cycles} cycles:\n{run.outputs['y']}")
print("largest difference:", np.abs(run.outputs["y"] - exact).max())
