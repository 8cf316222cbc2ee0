"""Directives of GNU as that Macaw accepts and ignores, and the directives `.end` and `.print`.

Most of the ignored directives occur in the output of compilers.
"""

from __future__ import annotations

from macaw.asm.directive import wrong_operands
from macaw.asm.syntax import Text
from macaw.asm.text_directive import TextDirective, statement_of
from macaw.asm.text_stack import Command, TextStack

_CFI = (
    "adjust_cfa_offset b_key_frame def_cfa def_cfa_offset def_cfa_register endproc escape"
    " fde_data gnu_args_size inline_lsda label lsda mte_tagged_frame negate_ra_state offset"
    " personality personality_id register rel_offset remember_state restore restore_state"
    " return_column same_value sections signal_frame startproc undefined val_encoded_addr"
    " val_offset window_save"
)
# For debuggers and unwinding, for linkers, and for the listing of GNU as.
_IGNORED = (
    *(f".cfi_{word}" for word in _CFI.split()),
    *(".addrsig", ".addrsig_sym", ".attribute", ".extern", ".gnu_attribute", ".ident", ".loc"),
    *(".loc_mark_labels", ".option", ".stabd", ".stabn", ".stabs", ".symver", ".variant_cc"),
    *(".hidden", ".internal", ".protected", ".version", ".file", ".line", ".ln"),
    *(".eject", ".nolist", ".psize", ".sbttl", ".title"),
)
_OF_COMPILERS = (".addrsig", ".file", ".ident", ".cfi_startproc")


def _ignore(stack: TextStack, command: Command) -> None:
    """Ignore a directive. If only compilers use it, record that a compiler wrote the source.

    Unused labels of such a source cause no warnings.
    """
    if command.name.text in _OF_COMPILERS:
        stack.state.scope.is_compiled = True


def _end(stack: TextStack, _command: Command) -> None:
    """Carry out `.end`: ignore the rest of the source."""
    stack.stop()


def _print(stack: TextStack, command: Command) -> None:
    statement = statement_of(stack, command)
    if len(statement.operands) != 1 or not isinstance(statement.operands[0], Text):
        raise wrong_operands(statement, '.print "text"')
    text = statement.operands[0].value.decode("utf-8", "replace")
    stack.state.report.note(command.line, (0, len(command.line.text)), text)


D = TextDirective

# fmt: off
GNU = (
    *(D(name, f"{name} ...", "Accepted for sources of GNU as and of compilers; no effect.", _ignore, example=f"{name} x") for name in _IGNORED),
    D(".end",   ".end",            "The end of the source; what follows is not read.", _end, example=".byte 1\n.end\nanything else"),
    D(".print", '.print "text"',   "Print the text while the source is assembled.", _print, example=".if 0\n.print \"a debug build\"\n.endif"),
)
# fmt: on
