"""Lowers network operations to assembly programs for the PE array (seed 000 ¶84-85, ¶132-177)."""
