"""The lines of the source as the page of a profile shows them: texts, and cycles by line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from macaw.asm.program import Program
from macaw.isa import reading
from macaw.profiling.account import Account
from macaw.profiling.file_names import short_file_names


def line_totals(accounts: Iterable[Account]) -> list[tuple[str, int, int, dict[str, int]]]:
    """Return the cycles of each line of the accounts, added up over cores.

    An item has the line's place, its cycles on the critical path, its cycles on all cores (times
    the units of each core), and its cycles on all cores by cause.
    """
    runs: Counter[str] = Counter()
    causes: dict[str, Counter[str]] = {}
    for account in accounts:
        for line in account.lines:
            if line.place:
                runs[line.place] += line.run
                causes.setdefault(line.place, Counter()).update(line.causes)
    return [
        (place, runs[place], found.total(), dict(found.most_common()))
        for place, found in causes.items()
    ]


def source_texts(program: Program) -> dict[str, str]:
    """Return the texts of a program's source files, by short file name (`layer.s`).

    These names are the ones in source positions. Files that cannot be read are left out.
    """
    texts = {}
    for file, name in short_file_names(program.line_table.files).items():
        try:
            data = reading.read(file, reading.MOST_SOURCE)
        except reading.UnreadableError:
            continue
        texts[name] = data.decode("utf-8", "replace")
    return texts
