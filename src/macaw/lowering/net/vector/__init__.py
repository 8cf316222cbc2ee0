"""The layers between the products of a network, which the SIMD core vc and the dma compute."""
