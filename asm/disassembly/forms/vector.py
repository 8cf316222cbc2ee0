"""vc: nothing but code of the scalar base and its own."""

from __future__ import annotations

from asm.disassembly.forms.scalar import CoreForm as CoreForm
