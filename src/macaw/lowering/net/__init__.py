"""Networks on the device: layers, the memory of their tensors, and the program of all layers."""
