"""`python -m tests.seeds 004 46`: what a paragraph of a seed states and which tests show it.

Several paragraphs: `004 40-50`, `004 3,7-9`; a whole seed: `004`. `--write` makes docs/seeds.md and
its pages; `--paragraphs FOLDER` makes the list of paragraphs from the seed files in FOLDER.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from tests.seeds import page, table
from tests.seeds.mentions import ROOT


def show(seed: str, chosen: tuple[int, ...]) -> bool:
    """Print paragraphs with their facts; return whether each paragraph has a fact."""
    complete = True
    rows = table.facts(seed)
    for paragraph in table.paragraphs(seed):
        if chosen and paragraph.number not in chosen:
            continue
        print(f"seed {seed} ¶{paragraph.number}  {paragraph.words}")
        entries = [fact for fact in rows if paragraph.number in fact.paragraphs]
        for fact in entries:
            print("\n".join(page.entry(fact)))
        if not entries:
            print("- no entry")
        complete &= bool(entries)
    return complete


def write_paragraphs(folder: Path) -> None:
    """Write paragraphs/NNN.tsv from the seeds in `folder`."""
    for seed in table.SEEDS:
        [path] = folder.glob(f"{seed}_*.txt")
        rows = table.paragraphs_in(seed, path.read_text("utf-8"))
        text = "".join(f"{row.number}\t{row.digest}\t{row.words}\n" for row in rows)
        (table.HERE / "paragraphs" / f"{seed}.tsv").write_text(text, "utf-8")
        print(f"seed {seed}: {len(rows)} paragraphs")


def main() -> int:
    """Do what the command line asks for; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.seeds", description=__doc__)
    parser.add_argument("seed", nargs="?", choices=list(table.SEEDS))
    parser.add_argument("paragraphs", nargs="*", help="46, 40-50; without any: all")
    parser.add_argument("--write", action="store_true", help="docs/seeds.md and docs/seeds/")
    parser.add_argument("--paragraphs", dest="folder", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    if given.folder:
        write_paragraphs(given.folder)
    if given.write:
        for name, text in page.files().items():
            (ROOT / name).parent.mkdir(exist_ok=True)
            (ROOT / name).write_text(text, "utf-8")
    if not given.seed:
        return 0
    try:
        chosen = table.numbers(",".join(given.paragraphs))
    except ValueError:
        parser.error(f"'{' '.join(given.paragraphs)}' names no paragraphs: 46, 40-50 or 3,7-9")
    known = {paragraph.number for paragraph in table.paragraphs(given.seed)}
    if unknown := sorted(set(chosen) - known):
        parser.error(f"seed {given.seed} has ¶{min(known)} to ¶{max(known)}, no ¶{unknown[0]}")
    return 0 if show(given.seed, chosen) else 1


try:
    raise SystemExit(main())
except BrokenPipeError:  # `| head` has seen enough
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(1) from None
