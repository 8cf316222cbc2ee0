"""The source that lowering writes, line by line: what texts it takes."""

from __future__ import annotations

from macaw.lowering.listing import Listing


def test_a_comment_stays_on_its_line() -> None:
    """Names of layers are in comments; a model may give them names with any characters."""
    out = Listing()
    out.title("layer a\n.word 1")
    out.comment("layer b\n.word 2")
    out.put("nop", "layer c\r\n\x07.word 3")
    assert out.lines == (
        "",
        "# ---------------- layer a .word 1",
        "# layer b .word 2",
        "nop  # layer c .word 3",
    )
