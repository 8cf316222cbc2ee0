"""The Pygments lexer loses no text, finds no error in good sources, agrees with the assembler."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pygments.lexers import get_lexer_by_name, guess_lexer_for_filename
from pygments.token import Error, Keyword, Name, Number, String, is_token_subtype

from macaw.asm.editors import lexer, words
from macaw.asm.editors.lexer import MacawLexer
from macaw.isa import registry
from tests.editors.view import kinds, samples

KIND_OF = {
    lexer.LABEL: "label", lexer.MNEMONIC: "mnemonic", lexer.MACRO: "macro", lexer.DIRECTIVE: "directive",
    lexer.REGISTER: "register", lexer.WORD: "word", lexer.NAMED: "named", lexer.FUNCTION: "function",
    Name: "symbol", String.Double: "string", String.Char: "number",
}  # fmt: skip
PIECES = st.sampled_from(
    [*words.directives(), *words.registers(), *words.operand_words(), *registry.core("cp").rows, *registry.core("pe").rows,
     " ", "\t", "\n", ";", ":", ",", "#", "//", "/*", "*/", '"', "'", "\\", "(", ")", "[", "]", "=", "==", "<<", "%hi", ".", "1b",
     "0x1f", "08", "1.5e3", "\r", "\x00", "é", "\\arg", "\\@", "x", "_start:", ".core pe, row=0\n"]
)  # fmt: skip


def tokens(text: str) -> list[lexer.Token]:
    return list(MacawLexer().get_tokens_unprocessed(text))


@pytest.mark.few(100)
@pytest.mark.parametrize("path", samples(), ids=lambda path: path.stem)
def test_every_word_is_what_the_assembler_takes_it_for(path) -> None:
    text = path.read_bytes().decode("utf-8")
    found = tokens(text)
    assert "".join(token for _at, _kind, token in found) == text
    assert not [token for token in found if token[1] is Error]
    mine = {
        (at, at + len(word)): "number"
        if is_token_subtype(kind, Number)
        else KIND_OF.get(kind, str(kind))
        for at, kind, word in found
    }
    theirs = kinds(text)
    assert theirs or text.lstrip().startswith("#")
    wrong = [
        (text[slice(*span)], mine.get(span), kind)
        for span, kind in theirs.items()
        if mine.get(span) != kind
    ]
    # In an expression a register's name is a symbol, and so is in a directive's operands a word of a
    # record; the lexer does not look that far.
    assert set(wrong) <= {
        ("cycle", "register", "symbol"),
        ("start", "word", "symbol"),
        ("dense", "word", "symbol"),
    }


@given(st.lists(PIECES).map("".join) | st.text())
def test_nothing_of_any_text_is_lost(text: str) -> None:
    found = tokens(text)
    assert "".join(word for _at, _kind, word in found) == text
    assert all(word for _at, _kind, word in found)


def test_a_word_is_one_only_where_it_can_be() -> None:
    text = ".core cp\nla a0, weights\nadd weights, sp, relu\n.core pe, row=0\nld weights, base=0\n"
    said = [kind for _at, kind, word in tokens(text) if word in ("weights", "relu")]
    assert said == [Name, Name, Name, Keyword.Constant]


def test_a_statement_follows_a_label_in_quotes() -> None:
    found = tokens('"a b" : j "a b"\n"open: 1\n')
    assert (0, lexer.LABEL, '"a b"') in found
    assert (8, lexer.MNEMONIC, "j") in found
    assert (16, Error, '"open: 1') in found


def test_a_register_is_one_only_where_the_core_has_it() -> None:
    assert (0, lexer.MACRO, "mul") in tokens("mul")[:0] + [
        (at - 16, kind, word) for at, kind, word in tokens(".core pe, row=0\nmul a0")
    ]
    assert [kind for _at, kind, word in tokens(".core pe, row=0\nst sp") if word == "sp"] == [Name]
    assert [kind for _at, kind, word in tokens("add sp, sp, sp") if word == "sp"] == [
        lexer.REGISTER
    ] * 3


def test_what_is_no_token_is_an_error() -> None:
    assert [word for _at, kind, word in tokens('add ? 08x "open\n') if kind is Error] == [
        "?",
        "08x",
        '"open',
    ]


def test_it_is_found_by_name_and_by_what_a_source_says() -> None:
    assert isinstance(get_lexer_by_name("macaw"), MacawLexer)
    ours = "        .core pe, row=0\n        .seq s\n"
    assert isinstance(guess_lexer_for_filename("x.s", ours), MacawLexer)
    assert not isinstance(guess_lexer_for_filename("x.s", ".text\nmain: ret\n"), MacawLexer)


def test_every_word_of_the_tables_has_its_kind() -> None:
    for core in registry.cores():
        for name in core.rows:
            _part, *rest = tokens(f".core {core.name}\n{name}")
            assert rest[-1][1:] == (lexer.MNEMONIC, name)
        for row in core.directives:
            assert tokens(f".core {core.name}\n{row.name}")[-1][1:] == (lexer.DIRECTIVE, row.name)
    for name in words.directives():
        assert tokens(name) == [(0, lexer.DIRECTIVE, name)]
