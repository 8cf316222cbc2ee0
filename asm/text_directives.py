"""The table of all directives on text."""

from __future__ import annotations

from macaw.asm.conditionals import CONDITIONALS
from macaw.asm.gnu_directives import GNU
from macaw.asm.includes import INCLUDES
from macaw.asm.macros import MACROS
from macaw.asm.repetition import REPETITION

TEXT_DIRECTIVES = {row.name: row for row in (*CONDITIONALS, *MACROS, *REPETITION, *INCLUDES, *GNU)}
