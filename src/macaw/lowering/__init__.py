"""Lower network operations to programs for the sparse PE array (seed 000 ¶84-85, ¶132-177)."""
