"""Models compiled for a device: made, stored in folders, run layer by layer, and reported."""
