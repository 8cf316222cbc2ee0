"""Lowers products and graphs to programs for function-in-memory islands (seed 004)."""
