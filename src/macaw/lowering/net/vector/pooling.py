"""Write maximum and average pools as code of vc.

For each group of channels, code goes over the rows of the result. A table in cp's local memory has
the addresses of the rows of each window. Rows outside the image are replaced: for a maximum by the
nearest row, which changes nothing, for an average by a row of zeros. In a row, columns whose
windows reach outside are separate code; the others are a loop.
"""

from __future__ import annotations
