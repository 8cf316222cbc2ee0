"""The reference engine of a row: every cycle in which something can change, one by one."""
