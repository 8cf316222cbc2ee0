"""The fast engine of a row: it plans macs and simulates equal clusters together."""
