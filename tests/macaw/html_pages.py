"""Reads HTML for tests: nesting of elements, references to other files, tables, titles."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "input", "link"}


@dataclass
class Page(HTMLParser):
    """The contents of an HTML page; `Page.of` reads it and checks the nesting of its elements."""

    tables: list[list[list[str]]] = field(default_factory=list)  # captions left out
    texts: list[str] = field(default_factory=list)
    titles: list[str] = field(default_factory=list)
    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    styles: str = ""
    open: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, html: str) -> Page:
        """Read a text. Raises `AssertionError` if an element is not closed in its parent."""
        page = cls()
        HTMLParser.__init__(page)
        page.feed(html)
        page.close()
        assert page.open == []
        return page

    @property
    def text(self) -> str:
        """All texts without styles and titles, separated by spaces."""
        return " ".join(self.texts)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Store an element that opens."""
        self.tags.append((tag, dict(attrs)))
        if tag in VOID or (self.open and self.open[-1] == "path"):
            return
        self.open.append(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Store an element without contents."""
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """Check that the element that closes is the innermost one."""
        assert self.open
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Store a text."""
        inner = self.open[-1] if self.open else ""
        if inner == "style":
            self.styles += data
        elif inner == "title":
            self.titles.append(data)
        else:
            self.texts.append(data)
            if "td" in self.open or "th" in self.open:
                self.tables[-1][-1][-1] += data


def refers_to_nothing(page: Page) -> bool:
    """Return whether a page loads nothing and runs nothing: no script, no address, no handler."""
    names = {name for _tag, attributes in page.tags for name in attributes}
    tags = {tag for tag, _attributes in page.tags}
    return not (
        tags & {"script", "iframe", "link", "img", "object", "embed", "base", "form"}
        or names & {"src", "href", "xlink:href", "action", "srcdoc", "style"}
        or any(name.startswith("on") for name in names)
        or "url(" in page.styles
        or "@import" in page.styles
    )
