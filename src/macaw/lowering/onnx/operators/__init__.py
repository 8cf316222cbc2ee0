"""What each operator of ONNX computes, in NumPy: the definition of the parts that stay float."""
