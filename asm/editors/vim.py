"""Generates files for Vim and Neovim: file type detection and syntax."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping

from macaw.asm import columns
from macaw.asm.editors import words

_MADE = '" Made from the tables by `make docs`; what is changed here is lost.'
_NAME = r"\%([A-Za-z_$][A-Za-z0-9_.$]*\|\.[A-Za-z0-9_.$]\+\)"
_NUMBER_END = r"\%([A-Za-z0-9_.$]\)\@!"
_LOOK = {
    "Comment": "Comment", "Label": "Label", "Directive": "PreProc", "Mnemonic": "Statement",
    "Macro": "Function", "Assigned": "Identifier", "Register": "Identifier", "Word": "Constant",
    "Named": "Type", "Function": "Function", "Number": "Number", "Float": "Float", "Local": "Label",
    "String": "String", "Quoted": "String", "Escape": "SpecialChar", "Character": "Character",
    "Argument": "Special", "Operator": "Operator", "Moved": "Identifier", "Place": "Identifier",
    "Called": "Function",
}  # fmt: skip


def files() -> Mapping[str, str]:
    """Return the texts of the files, by their paths below ~/.vim."""
    return {
        "ftdetect/macaw.vim": _detect(),
        "ftplugin/macaw.vim": _plugin(),
        "syntax/macaw.vim": _syntax(),
    }


def _detect() -> str:
    cores = r"\|".join(sorted(words.every()))
    return f"""\
{_MADE}
" A .s file is ours if one of its first lines begins a part of one of our cores.
function! s:Detect() abort
  for line in getline(1, 200)
    if line =~# '^\\s*{words.CORE.replace(".", chr(92) + ".")}\\s\\+\\%({cores}\\)\\>'
      setlocal filetype=macaw
      return
    endif
  endfor
endfunction
autocmd BufNewFile,BufRead *.s call s:Detect()
"""


def _plugin() -> str:
    return f"""\
{_MADE}
" Vim's own plugin for assembly has run before and leaves no way back: ours comes on top.
let b:did_ftplugin = 1
setlocal commentstring=#\\ %s comments=:#,://
let b:undo_ftplugin = 'setlocal commentstring< comments<'
"""


def _syntax() -> str:
    lines = [
        _MADE,
        "if exists('b:current_syntax')",
        "  finish",
        "endif",
        "syntax case match",
        "syntax iskeyword @,48-57,_,.,$",
        "",
        *_statements(),
        "",
        *_operands(),
        "",
        # Comments are a match, not a region, so that the region of operands before a comment ends
        # with the line.
        r"syntax match macawComment +\%(#\|//\).*+",
        r"syntax region macawComment start=+/\*+ end=+\*/+",
        "syntax sync ccomment macawComment",
        "",
        *(f"highlight default link macaw{name} {look}" for name, look in _LOOK.items()),
        "",
        "let b:current_syntax = 'macaw'",
    ]
    return "\n".join(lines) + "\n"


def _statements() -> list[str]:
    """Return the syntax items of labels, assignments, moves, directives and mnemonics."""
    every = words.every()
    directives = words.directives().union(*(core.directives for core in every.values()))
    return [
        f"syntax match macawMacro /{_NAME}/ contains=macawMnemonic,macawDirective"
        " nextgroup=macawOperands",
        # The last match that fits has precedence: a label, then an assignment.
        f"syntax match macawAssigned /{_NAME}\\ze[ \\t]*=/ nextgroup=macawOperands",
        r'syntax match macawQuoted /"\%(\\.\|[^"\\]\)*"\ze\s*=/ nextgroup=macawOperands',
        r'syntax match macawQuoted /"\%(\\.\|[^"\\]\)*"\s*:/',
        f"syntax match macawLabel /\\%({_NAME}\\|[0-9]\\+\\)\\s*:/",
        # An instruction written as a move: registers, indices in brackets, functions.
        f"syntax match macawMoved /{_NAME}\\ze\\%([ \\t]*\\[[^]]*\\]\\)\\?[ \\t]*{columns.ARROW}/"
        " nextgroup=macawMoves",
        r"syntax region macawMoves start=/[^;]/rs=s end=/$/ end=/^/ end=/;/me=s-1 contained"
        " contains=macawPlace,macawIndices,macawCalled,macawNumber,macawArgument,macawOperator,"
        "macawComment",
        f"syntax match macawPlace /{_NAME}/ contained",
        f"syntax match macawCalled /{_NAME}\\ze[ \\t]*(/ contained",
        r"syntax region macawIndices start=/\[/ end=/\]/ oneline contained"
        " contains=@macawOperand",
        # An item that reaches the end of the line hides this end from the region of operands. Then
        # the start of the next line (`/^/`) ends the region.
        r"syntax region macawOperands start=/[^;]/rs=s end=/$/ end=/^/ end=/;/me=s-1 contained"
        " contains=@macawOperand,macawComment",
        *_keywords("Directive", directives),
        *(line for core in every.values() for line in _keywords("Mnemonic", core.mnemonics)),
    ]


def _operands() -> list[str]:
    """Return the syntax items for operands: their words, numbers, strings and operators."""
    operators = r"[-+*/%~!&|^<>=]"
    return [
        "syntax cluster macawOperand contains=macawSymbol,macawNamed,"
        "macawFunction,macawNumber,macawFloat,macawLocal,macawString,macawCharacter,"
        "macawArgument,macawOperator",
        f"syntax match macawOperator /{operators}/ contained",
        f"syntax match macawSymbol /{_NAME}\\%(@plt\\)\\?/ contained"
        " contains=macawRegister,macawWord",
        f"syntax match macawNamed /{_NAME}\\ze[ \\t]*=\\%(=\\)\\@!/ contained",
        r"syntax match macawFunction /%[A-Za-z_][A-Za-z0-9_]*\ze\s*(/ contained",
        f"syntax match macawFunction /\\%({_alternatives()}\\)\\ze\\s*(/ contained",
        r"syntax match macawFloat /\%([0-9]\+\.[0-9]*\|\.[0-9]\+\|[0-9]\+[eE]\@=\)"
        rf"\%([eE][+-]\?[0-9]\+\)\?{_NUMBER_END}/ contained",
        rf"syntax match macawNumber /\%(0[xX]\x\+\|0[bB][01]\+\|[0-9]\+\){_NUMBER_END}/ contained",
        rf"syntax match macawLocal /[0-9]\+[bf]{_NUMBER_END}/ contained",
        r"syntax match macawArgument /\\\%([A-Za-z_.$][A-Za-z0-9_.$]*\|@\|()\|+\)/ contained",
        r"""syntax match macawCharacter /'\%(\\\%(x\x\+\|[0-7]\{1,3}\|.\)\|[^\\]\)'\?/ contained""",
        r'syntax match macawString /"\%(\\.\|[^"\\]\)*"\?/ contained contains=macawEscape',
        r"syntax match macawEscape /\\\%(x\x\+\|[0-7]\{1,3}\|.\)/ contained",
        *_keywords("Register", words.registers()),
        *_keywords("Word", words.operand_words()),
    ]


def _alternatives() -> str:
    from macaw.asm.expressions import FUNCTIONS

    return r"\|".join(FUNCTIONS)


def _keywords(group: str, names: Iterable[str]) -> list[str]:
    """Return the Vim lines that define keywords which occur only inside of other syntax items."""
    start = f"syntax keyword macaw{group} contained "
    text = " ".join(sorted(names))
    return [start + line for line in textwrap.wrap(text, 100 - len(start), break_on_hyphens=False)]
