"""ONNX's operators in NumPy: they define the results of the parts that stay floating-point."""
