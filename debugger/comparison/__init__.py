"""Compares two runs: where they differ first (`first_difference`), and why (`paired_causes`)."""
