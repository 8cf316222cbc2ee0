"""The reference engine of a row: it simulates each cycle in which something can change."""
