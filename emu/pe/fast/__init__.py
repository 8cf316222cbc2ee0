"""The fast engine of a row: it plans macs in advance and simulates equal clusters together."""
