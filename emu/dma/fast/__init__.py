"""The fast engine of the dma: it moves many beats at once where other cores cannot notice."""
