"""The fast engine of a row: macs are planned, feeds go in bursts, equal clusters go in lockstep."""
