"""Macaw gives the bytes of GNU as and ld for small sources, or a documented difference."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.asm import gnu, gnu_corpus_files
from tests.fuzzing import third_in_ci

pytestmark = pytest.mark.once

SOURCES = gnu_corpus_files.SOURCES
VECTORS = gnu_corpus_files.recorded()
MANUAL = Path(__file__).parents[2] / "docs" / "language.md"

# By source: whether Macaw accepts it, and what the manual says of it.
DIFFERENT = {
    "alignment/code_of_nops": (True, "The end of a section is not padded"),
    "alignment/code_after_bytes": (True, "`.align 2` in code aligns"),
    "alignment/code_after_halves": (True, "`.align 2` in code aligns"),
    "data/uleb_of_a_difference": (True, "`.uleb128` takes any value that is known at its line"),
    "data/float_in_a_tie": (
        True,
        "rounds a number in the middle between two floats to the even one",
    ),
    "expressions/forward_in_an_instruction": (True, "a number that is set later"),
    "expressions/difference_as_immediate": (True, "a distance between labels"),
    "expressions/label_times_two": (True, "Addresses may be operands of any operator"),
    "expressions/sum_of_labels": (True, "Addresses may be operands of any operator"),
    "expressions/division_by_zero": (False, "a division by zero"),
    "expressions/byte_too_large": (False, "a number that does not fit its directive"),
    "expressions/byte_too_small": (False, "a number that does not fit its directive"),
    "expressions/half_too_large": (False, "a number that does not fit its directive"),
    "instructions/csr_of_machine_mode": (False, "a CSR that the core does not have"),
    "instructions/capitals": (False, "a mnemonic in capitals"),
    "instructions/branch_too_far": (False, "a branch whose target is too far"),
    "sections/pop_without_push": (False, "`.popsection` without `.pushsection`"),
    "sections/section_of_thread": (False, "a section for threads"),
    "sections/addrsig_is_llvm_s": (True, "Directives of LLVM"),
    "text/comment_of_two_slashes": (True, "`//` starts a comment"),
    "instructions/branch_to_a_number": (False, "a branch whose target is too far"),
    "data/negative_space": (False, "a number that does not fit its directive"),
    "data/unknown_escape": (False, "unknown escape in a string"),
    "text/endr_alone": (False, "`.endr` without a start"),
    "text/string_without_end": (False, "a string or a comment without its end"),
    "text/comment_without_end": (False, "a string or a comment without its end"),
}


def test_the_corpus_is_large_and_recorded() -> None:
    assert set(VECTORS) == set(SOURCES)
    assert len(SOURCES) + len(gnu.cases()) >= 400
    assert set(DIFFERENT) <= set(SOURCES)


@pytest.mark.parametrize("name", [name for name in SOURCES if name not in DIFFERENT])
def test_same_bytes(name: str) -> None:
    assert gnu_corpus_files.of_ours(SOURCES[name]) == VECTORS[name]


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_difference_is_in_the_manual(name: str) -> None:
    is_accepted, words = DIFFERENT[name]
    ours = gnu_corpus_files.of_ours(SOURCES[name])
    assert (ours is not None) == is_accepted
    assert ours != VECTORS[name]
    assert words in " ".join(MANUAL.read_text("utf-8").split())


# A contributor may have no GNU as; in CI, which installs it, a skip is a failure.
@pytest.mark.skipif(gnu.tools_missing(), reason="no GNU as here to compare the vectors with")
def test_the_vectors_are_current() -> None:
    names = third_in_ci(list(SOURCES))
    fresh = {name: gnu_corpus_files.of_gnu(SOURCES[name]) for name in names}
    assert fresh == {name: VECTORS[name] for name in names}
