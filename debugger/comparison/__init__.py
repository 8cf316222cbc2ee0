"""Compares two runs: where they first differ (`first_difference`), and why (`paired_causes`)."""
