"""Converts the results of `macaw.asm.editing` to objects of the protocol.

The functions here need no file; `places` has the conversions that need a file.
"""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from macaw.asm.editing import blocks, colours, inlays
from macaw.asm.editing.blocks import Block
from macaw.asm.editing.colours import ColouredWord
from macaw.asm.editing.completion import Suggestion
from macaw.asm.editing.inlays import Annotation
from macaw.asm.editing.outlines import Entry
from macaw.asm.editing.signatures import Signature
from macaw.language_server.positions import Positions

_COMPLETION_KINDS = {
    "instruction": types.CompletionItemKind.Function,
    "directive": types.CompletionItemKind.Keyword,
    "macro": types.CompletionItemKind.Snippet,
    "register": types.CompletionItemKind.Variable,
    "word": types.CompletionItemKind.EnumMember,
    "operand": types.CompletionItemKind.Property,
    "function": types.CompletionItemKind.Operator,
    "symbol": types.CompletionItemKind.Variable,
    "constant": types.CompletionItemKind.Constant,
    "core": types.CompletionItemKind.Module,
    "device": types.CompletionItemKind.Module,
    "section": types.CompletionItemKind.Module,
    "file": types.CompletionItemKind.File,
    "folder": types.CompletionItemKind.Folder,
}
SYMBOL_KINDS = {
    "part": types.SymbolKind.Module,
    "code": types.SymbolKind.Function,
    "data": types.SymbolKind.Array,
    "tensor": types.SymbolKind.Variable,
    "constant": types.SymbolKind.Constant,
    "macro": types.SymbolKind.Method,
}
# The protocol's names of our roles, for the colours of editors; a register is a word of ours.
TOKEN_TYPES = {
    "directive": "keyword",
    "instruction": "function",
    "macro": "macro",
    "register": "register",
    "word": "enumMember",
    "named": "property",
    "function": "operator",
    "label": "label",
    "symbol": "variable",
    "constant": "variable",
    "parameter": "parameter",
    "string": "string",
    "number": "number",
    "comment": "comment",
    "operator": "operator",
}
LEGEND = types.SemanticTokensLegend(
    list(dict.fromkeys(TOKEN_TYPES[role] for role in colours.ROLES)), ["declaration", "readonly"]
)
_DECLARATION, _READONLY = 1, 2  # bits, in the order of the legend
_TYPE_NUMBERS = {role: LEGEND.token_types.index(TOKEN_TYPES[role]) for role in colours.ROLES}


def completion_item(rank: int, item: Suggestion, place: types.Range) -> types.CompletionItem:
    """Return a suggestion for the text at `place`; `rank` is its position in the editor's list."""
    text = types.MarkupContent(types.MarkupKind.Markdown, item.text) if item.text else None
    return types.CompletionItem(
        label=item.word,
        kind=_COMPLETION_KINDS[item.kind],
        detail=item.detail or None,
        documentation=text,
        sort_text=f"{rank:06}",
        filter_text=item.word,
        text_edit=types.TextEdit(place, item.word),
    )


def document_symbol(positions: Positions, entry: Entry) -> types.DocumentSymbol:
    """Return an entry of the outline as a symbol, with the entries inside of it as children."""
    place = positions.range(entry.span)
    whole = types.Range(place.start, place.end)
    children = [document_symbol(positions, child) for child in entry.children]
    if children:
        whole.end = children[-1].range.end
    return types.DocumentSymbol(
        name=entry.name,
        kind=SYMBOL_KINDS[entry.kind],
        range=whole,
        selection_range=place,
        detail=entry.detail,
        children=children,
    )


def signature_information(item: Signature) -> types.SignatureInformation:
    """Convert a signature, which is one way to write a statement, to an object of the protocol."""
    parameters = [
        types.ParameterInformation((x.start, x.end), x.meaning or None) for x in item.parameters
    ]
    return types.SignatureInformation(item.label, item.meaning, parameters, item.active)


def folding_range(positions: Positions, block: Block) -> types.FoldingRange:
    """Convert a block, which the editor can fold, to an object of the protocol."""
    start, end = positions.position(block.start), positions.position(block.end)
    is_comment = block.kind == blocks.COMMENT
    kind = types.FoldingRangeKind.Comment if is_comment else None
    return types.FoldingRange(start.line, end.line, kind=kind)


def semantic_tokens(positions: Positions, words: Iterable[ColouredWord]) -> types.SemanticTokens:
    """Return the roles of words as the protocol encodes them: five numbers for each word.

    These are the distances in lines and columns from the previous word, the length, the role, and
    the modifiers of the role.
    """
    data: list[int] = []
    line = column = 0
    for word in words:
        start, end = positions.position(word.start), positions.position(word.end)
        if start.line != end.line:
            continue  # a carriage return, which ends lines in the protocol alone
        before = column if start.line == line else 0
        modifiers = _DECLARATION * word.defines + _READONLY * (word.role == colours.CONSTANT)
        data += [
            start.line - line,
            start.character - before,
            end.character - start.character,
            _TYPE_NUMBERS[word.role],
            modifiers,
        ]
        line, column = start.line, start.character
    return types.SemanticTokens(data)


def inlay_hint(positions: Positions, item: Annotation) -> types.InlayHint:
    """Convert a note that the editor shows in a line to an object of the protocol."""
    return types.InlayHint(
        positions.position(item.offset),
        item.text,
        kind=types.InlayHintKind.Type if item.kind != inlays.CYCLES else None,
        tooltip=item.explanation,
        padding_left=True,
        padding_right=item.kind == inlays.VALUE,
    )
