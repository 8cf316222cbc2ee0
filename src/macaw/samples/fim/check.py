# Compares the products of the island with those of NumPy: python check.py
import macaw
import numpy as np

a, b = np.load("a.npy"), np.load("b.npy")
run = macaw.run("product.s", a=a, b=b)
same = np.array_equal(run.outputs["y"], np.maximum(a * b, 0))
print("the same numbers" if same else "different numbers", "in", run.cycles, "cycles")
