"""The fast engine of the dma: many beats at once where other cores cannot notice."""
