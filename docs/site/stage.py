"""Copies all pages of the documentation to one folder, from which Sphinx makes the site.

A long page of the reference becomes a table for each family of instructions, with a page for each
family behind it. All links are written for the new places of their targets. A target that is not
there is an error, and so is a page that no part of the site names.

    python -m docs.site.stage FOLDER
"""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from docs.site.api import reference
from docs.site.links import Target, headings, link_to, replace_links, target_of
from docs.site.parts import PARTS
from macaw.isa.markdown import slug

ROOT = Path(__file__).resolve().parents[2]
DOCS = "docs/"
LONG = 700  # lines of a page of the reference that is divided
_FOLDERS = {"docs/isa/README.md": "docs/isa", "docs/seeds.md": "docs/seeds"}  # pages below a page
_NOTEBOOK = "docs/notebook.ipynb"
_OWN = ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "README.md")
_PICTURE = re.compile(
    r'<picture><source [^>]*srcset="([^"]*)">\s*<img src="([^"]*)"\s*alt="([^"]*)">\s*</picture>'
)
_SHOWN = {".c", ".h", ".ld", ".onnx", ".py", ".s", ".sh", ".toml", ".txt", ".vim", ".json"}
_BAR = re.compile(r"(?<!\\)[|]")  # between cells, unless it is escaped
_END_OF_START = "\n## Read on"


class StageError(Exception):
    """Pages that the site cannot show: what is missing, and on which page."""


class Page(NamedTuple):
    """A page of the site: its path, its text, and the page of the tree from which it was made."""

    path: str
    text: str
    origin: str


Moves = Mapping[Target, Target]


def staged_path(path: str) -> str:
    """Return where a file of the tree is in the staged folder."""
    return path.removeprefix(DOCS)


def sources() -> dict[str, str]:
    """Return the texts of all pages in Markdown, by their paths in the tree."""
    found = [*(ROOT / DOCS).rglob("*.md"), *(ROOT / "programs").glob("*/README.md")]
    names = sorted(path.relative_to(ROOT).as_posix() for path in found)
    return {name: (ROOT / name).read_text("utf-8") for name in (*names, *_OWN)}


# --- long pages of the reference ---


def divided(path: str, text: str) -> tuple[list[Page], dict[Target, Target]]:
    """Return the pages of a long page of the reference, and where its anchors are now.

    A chapter whose items have headings of their own becomes a page. The first page has a table
    of these items instead.
    """
    lines = text.splitlines()
    marks = list(headings(text))
    chapters = [n for n, (_, level, _) in enumerate(marks) if level == 2]
    folder = staged_path(path).removesuffix(".md")
    first, pages, moves = lines[: marks[chapters[0]][0]], [], {}
    for place, begin in enumerate(chapters):
        end = chapters[place + 1] if place + 1 < len(chapters) else len(marks)
        start = marks[begin][0]
        stop = marks[end][0] if end < len(marks) else len(lines)
        items = marks[begin + 1 : end]
        if not items:
            first += lines[start:stop]
            continue
        title = lines[start].removeprefix("## ")
        name, title = _names(title)
        name = f"{folder}/{name}.md"
        body = re.sub(r"(?m)^### ", "## ", "\n".join(lines[start + 1 : stop]))
        here = f"# {Path(folder).name}: {title}\n{body}\n"
        pages.append(Page(name, here, path))
        new = [anchor for _, level, anchor in headings(here) if level == 2]
        for (_, _, old), anchor in zip(items, new, strict=True):
            moves[Target(path, old)] = Target(DOCS + name, anchor)
        stops = [line for line, _, _ in items[1:]] + [stop]
        rows = [_row(lines[a:b], old) for (a, _, old), b in zip(items, stops, strict=True)]
        first += [lines[start], "", "| name | form | meaning |", "| --- | --- | --- |", *rows, ""]
    end_line = lines[-1] if lines[-1].startswith("Words of the field") else ""
    if end_line and first[-1] != end_line:
        first += ["", end_line]
    names = [f"{Path(folder).name}/{Path(page.path).stem}" for page in pages]
    whole = Page(staged_path(path), "\n".join(first) + _tree(names), path)
    return [whole, *pages], moves


def _names(chapter: str) -> tuple[str, str]:
    """Return the name of a chapter's file and the title of its page."""
    kind, _, family = chapter.lower().partition(": ")
    return (slug(family), f"{family} {kind}") if family else (slug(kind), kind)


def _row(lines: list[str], anchor: str) -> str:
    """Return the row of a table for an item: its heading, its form, and its first sentence."""
    blocks = [block.replace("\n", " ") for block in "\n".join(lines[1:]).strip().split("\n\n")]
    form = blocks.pop(0) if blocks[0].startswith("`") else ""
    text = blocks[0] if blocks and not blocks[0].startswith(("|", "```")) else ""
    sentence = re.split(r"(?<=[.;]) ", text)[0].rstrip(";")
    cells = (f"[{lines[0].removeprefix('### ')}](#{anchor})", form, sentence)
    return "| " + " | ".join(_BAR.sub(r"\|", cell) for cell in cells) + " |"


# --- links ---


def _anchors(text: str) -> set[str]:
    return {anchor for _, _, anchor in headings(text)}


class _Linker:
    """Writes links of staged pages; collects the files that they need."""

    def __init__(self, pages: Mapping[str, Page], moves: Moves) -> None:
        self.pages, self.moves = pages, moves
        self.anchors = {path: _anchors(page.text) for path, page in pages.items()}
        self.files: set[str] = set()
        self.folders: dict[str, str] = {}  # pages that list files, by their paths
        self.missing: list[str] = []

    def text(self, page: Page) -> str:
        """Return the text of a page with links for its place."""
        marked = _PICTURE.sub(lambda match: self._pictures(match, page), page.text)
        marked = marked.replace("```asm\n", "```macaw\n")  # the name of the lexer for Pygments
        return replace_links(marked, lambda link: self._link(link, page))

    def _link(self, link: str, page: Page) -> str:
        old = target_of(link, page.origin)
        if old is None:
            return link
        target = self.moves.get(old, old)
        path = staged_path(target.path)
        if path == "README.md":
            path = "index.md"
        if path in self.pages:
            if target.anchor and target.anchor not in self.anchors[path]:
                self.missing.append(f"{page.origin}: {link} has no such heading")
            return link_to(Target(path, target.anchor), page.path)
        if (ROOT / target.path).is_dir():
            return link_to(Target(self._folder(target.path), ""), page.path)
        if not (ROOT / target.path).exists():
            self.missing.append(f"{page.origin}: {link} is not there")
        self.files.add(target.path)
        return link_to(Target(staged_path(target.path), ""), page.path)

    def _pictures(self, match: re.Match[str], page: Page) -> str:
        """Return the two pictures of a `picture` element, each for one colour scheme."""
        text = " ".join(match[3].split())
        return "\n".join(
            f"```{{image}} {self._link(name, page)}\n:alt: {text}\n:class: only-{scheme}\n```"
            for name, scheme in ((match[2], "light"), (match[1], "dark"))
        )

    def _folder(self, path: str) -> str:
        """Return the page that lists the files of a folder whose files have no pages."""
        names = [
            x.relative_to(ROOT).as_posix()
            for x in sorted((ROOT / path).rglob("*.*"))
            if x.is_file()
        ]
        shown = [name for name in names if Path(name).suffix in _SHOWN]
        page = f"{path}/files.md"
        entries = "\n".join(f"- [{name}]({Path(name).relative_to(path)})" for name in shown)
        self.folders[page] = f"---\norphan: true\n---\n\n# Files of {path}\n\n{entries}\n"
        self.files.update(shown)
        return page


# --- the tree ---


def _tree(names: Sequence[str]) -> str:
    """Return a hidden table of contents, for pages that are below another one."""
    return "\n\n```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```\n"


def _start(text: str) -> str:
    """Return the start page: the first part of the README, and the parts of the site."""
    trees = [
        f"## {part.title}\n\n{part.about}\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n:caption: {part.title}\n\n"
        + "\n".join(part.pages)
        + "\n```\n"
        for part in PARTS
    ]
    return "\n".join([text.partition(_END_OF_START)[0], "", *trees])


def _below(path: str, texts: Collection[str]) -> list[str]:
    """Return the pages of the folder that belongs to a page, for its table of contents."""
    folder = Path(_FOLDERS[path])
    pages = [Path(name) for name in sorted(texts) if Path(name).parent == folder and name != path]
    return [page.relative_to(Path(path).parent).with_suffix("").as_posix() for page in pages]


def all_pages() -> tuple[dict[str, Page], dict[Target, Target]]:
    """Return the pages of the site by their paths, before links are written, and moved anchors."""
    pages: dict[str, Page] = {}
    moves: dict[Target, Target] = {}
    texts = sources()
    for path, text in texts.items():
        if path == "README.md":
            made = [Page("index.md", _start(text), path)]
        elif path.startswith("docs/isa/") and text.count("\n") > LONG:
            made, moved = divided(path, text)
            moves.update(moved)
        else:
            made = [Page(staged_path(path), text, path)]
        if path in _FOLDERS:
            made[0] = made[0]._replace(text=made[0].text + _tree(_below(path, texts)))
        pages.update({page.path: page for page in made})
    return pages, moves


def _unlisted(pages: Mapping[str, Page]) -> Iterator[str]:
    """Yield pages that no part names and that no other page has in its table of contents."""
    listed = {f"{name}.md" for part in PARTS for name in part.pages} | {"index.md"}
    for path in pages:
        if path not in listed and not path.startswith(("isa/", "seeds/")):
            yield f"{path} is in no part of docs/site/parts.py"


def stage(folder: Path) -> int:
    """Write all pages and what they link to into a folder, and return the number of pages.

    Raises `StageError` with one line for each link without a target and each unlisted page.
    """
    pages, moves = all_pages()
    linker = _Linker(pages, moves)
    texts = {path: linker.text(page) for path, page in pages.items()}
    missing = [*linker.missing, *_unlisted(pages)]
    if missing:
        raise StageError("\n".join(missing))
    shutil.rmtree(folder, ignore_errors=True)
    for path, text in {**texts, **linker.folders}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    (folder / "api.rst").write_text(reference(), "utf-8")
    for path in {*linker.files, _NOTEBOOK}:
        (folder / staged_path(path)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, folder / staged_path(path))
    return len(pages)


def main() -> int:
    """Stage the site in the folder of the first argument; print what is wrong."""
    try:
        count = stage(Path(sys.argv[1]))
    except StageError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{count} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
