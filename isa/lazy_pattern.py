"""A `re.compile` that compiles a pattern at its first use, because a run uses few of the patterns.

Compiling all patterns of the assembler would take a tenth of the time of `macaw asm` for a short
source.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    lazy_pattern = re.compile
else:
    _METHODS = ("match", "fullmatch", "search", "finditer", "findall", "split", "sub", "subn")

    class lazy_pattern:  # noqa: N801 (callers use it as the function `re.compile`)
        """A pattern that is compiled at its first use.

        It takes the arguments of `re.compile` and has the methods of `re.Pattern`.
        """

        def __init__(self, pattern, flags=0):
            self._arguments = pattern, flags

        def __getattr__(self, name):
            pattern = re.compile(*self._arguments)
            for method in _METHODS:
                setattr(self, method, getattr(pattern, method))
            return getattr(pattern, name)
