"""docs/shown.py: commands and debugger sessions of a page, and what they print."""

from __future__ import annotations

import pytest

from docs.shown import made

pytestmark = pytest.mark.once


def test_blocks_without_commands_stay() -> None:
    text = "A page\n\n    no command\n    at all\n\nits end\n"
    assert made(text) == text


def test_a_command_s_output_takes_the_place_of_the_old_one() -> None:
    found = made("    $ echo one; echo; echo two >&2\n    old\n    $ false\n    old\n\nend\n")
    assert found == "    $ echo one; echo; echo two >&2\n    one\n\n    two\n    $ false\n\nend\n"


def test_a_session_of_the_debugger_goes_on_in_later_blocks() -> None:
    head = "    $ printf '.core cp\\n_start: ebreak\\n' >p.s\n    $ macaw debug p.s\n"
    text = f"{head}    (macaw) set a0=5\n    old\n\nwords\n\n    (macaw) print a0\n    $ echo end\n"
    wanted = text.replace("old", "a0 = 5").replace("print a0", "print a0\n    a0 = 5")
    assert made(text) == f"{wanted}    end\n"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("    $ true\n    (macaw) print 1\n", "print 1: no session of the debugger goes on here"),
        (
            "    $ macaw debug units.s -i x=x.npy\n    (macaw) none\n    (macaw) print 1\n",
            "the session ended at none: error: no command is called 'none'",
        ),
    ],
)
def test_a_session_that_does_not_go_on(lines: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made(lines)
