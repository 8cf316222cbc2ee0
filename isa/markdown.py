"""Prints the reference of instructions as Markdown for docs/isa, one file for each core.

Each instruction, pseudo-instruction, structure and directive has its own heading. Registers,
counters, faults and settings are in tables.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence

from macaw.isa import memory_map, pages, trace
from macaw.isa.model import Core, SpecialRegister
from macaw.isa.pages import Page

MADE = "<!-- Made from the tables by `make docs`; what is changed here is lost. -->"
_IN_TABLES = ("word", "register", "special register", "memory-mapped register", "memory", "window", "queue",
              "counter", "rule", "fault", "how a run ends", "setting")  # fmt: skip
_SETTINGS = "Settings"
_END = "Words of the field and of Macaw: [the glossary](../glossary.md)."
_LINE, _CELL = 120, 150  # characters


def slug(heading: str) -> str:
    """Return the anchor that GitHub gives to the first heading with these words in a file."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def wrap(block: str) -> str:
    """Return a paragraph or a list in lines of at most 120 characters.

    Other blocks are unchanged.
    """
    if block.startswith(("#", "|", "<", "```", "    ")):
        return block
    lines = []
    for line in block.splitlines():
        start = re.match(r" *(?:- )?", line)
        assert start is not None
        lines += textwrap.wrap(
            line,
            _LINE,
            subsequent_indent=" " * len(start.group()),
            break_long_words=False,
            break_on_hyphens=False,
        )
    return "\n".join(lines)


def _cell(text: str) -> str:
    """Return the text of a table cell, with breaks after sentences or clauses if it is long."""
    if len(text) <= _CELL:
        return text
    return "<br>".join(re.split(r"(?<=[.;:]) ", text))


class Sheet:
    """A Markdown file while it is written: its lines so far, and the anchors of its headings."""

    def __init__(self, title: str, settings: Sequence[str] = ()) -> None:
        self.blocks = [f"# {title}", MADE]
        self.settings = settings  # the settings that have a table in the file
        self.anchors: dict[str, str] = {}  # by a page's name, the anchor of its first heading
        self._taken: dict[str, int] = {slug(title): 1}

    def heading(self, level: int, text: str) -> str:
        """Add the heading `text` and return its anchor; `level` is the number of `#` before it."""
        anchor = slug(text)
        count = self._taken.get(anchor, 0)
        self._taken[anchor] = count + 1
        self.blocks.append(f"{'#' * level} {_escaped(text)}")
        return f"{anchor}-{count}" if count else anchor

    def table(self, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Add a table with the header `head` and the given rows. The cells are Markdown."""
        lines = [head, ["---"] * len(head), *rows]
        cells = ([_cell(re.sub(r"(?<!\\)\|", r"\\|", cell)) for cell in line] for line in lines)
        self.blocks.append("\n".join(f"| {' | '.join(line)} |" for line in cells))

    def text(self) -> str:
        """Return the whole file."""
        return "\n\n".join(map(wrap, [*self.blocks, _END])) + "\n"


def core_file(core: Core) -> tuple[str, Mapping[str, str]]:
    """Return the Markdown file of a core, and the anchors of its items by their names.

    The items are the core's instructions, pseudo-instructions, structures and directives.
    """
    everything = list(pages.of_core(core))
    sheet = Sheet(f"{core.name}: {core.title}", [setting.name for setting in core.settings])
    chapters = dict.fromkeys(_chapter(item) for item in everything)
    listed = {name: [x for x in everything if _chapter(x) == name] for name in chapters}
    _contents(sheet, listed)
    for name, members in listed.items():
        sheet.heading(2, name)
        if members[0].kind == "register":
            for meaning in dict.fromkeys(item.meaning for item in members):
                _rows(sheet, [item for item in members if item.meaning == meaning])
        elif members[0].kind in _IN_TABLES:
            _rows(sheet, members)
        else:
            for item in members:
                _described(sheet, item)
    return sheet.text(), sheet.anchors


def device_file() -> str:
    """Return the Markdown file about the device: the rows that belong to no single core."""
    sheet = Sheet("Every core, memory and the device")
    everything = list(pages.of_device())
    for name in dict.fromkeys(_chapter(item) for item in everything):
        sheet.heading(2, name)
        _rows(sheet, [item for item in everything if _chapter(item) == name])
    return sheet.text()


def _group_registers(sheet: Sheet) -> None:
    """Add to a sheet the table of the registers that each register group of the trace has.

    The table has the addresses of group 0. The paragraph below it says what to add for other
    groups.
    """
    events = {item.name: item.meaning for item in trace.OCCURRENCES}
    sheet.table(
        ("register", "CSR", "offset", "what it holds", "of", "seed 001"),
        (
            [
                f"`{row.name}`",
                _address(trace.csrs(), trace.group_register(row, 0)),
                _address(trace.mapped(), trace.group_register(row, 0)),
                _escaped(row.meaning),
                _escaped(events[row.of]),
                row.symbol,
            ]
            for row in trace.GROUP
        ),
    )
    sheet.blocks.append(
        _escaped(
            f"The addresses are those of group 0. For group g, add {trace.CSR_STRIDE} * g to a CSR"
            f" (groups 0 to {trace.CSR_REACHED - 1}), and {trace.MAPPED_STRIDE:#x} * g to an offset"
            f" (groups 0 to {trace.MAPPED_REACHED - 1}). Offsets count from"
            f" {memory_map.REGISTERS:#x} + (core number << {memory_map.CORE_SHIFT})."
        )
    )


def _trace_parameters(sheet: Sheet) -> None:
    """Add the table of the trace block's parameters to a sheet."""
    sheet.table(
        ("register", "CSR", "offset", "access", "unit", "legal", "meaning"),
        (
            [
                f"`{row.name}`",
                _address(trace.csrs(), row.name),
                _address(trace.mapped(), row.name),
                row.access,
                row.unit,
                _legal(row),
                _escaped(row.meaning),
            ]
            for row in trace.PARAMETERS
        ),
    )


def trace_file(cores: Sequence[Core]) -> str:
    """Return the Markdown file about the trace block.

    The tables of `macaw.isa.trace` have its registers. `cores` are the tables of all cores.
    """
    sheet = Sheet("The trace block")
    sheet.blocks.append(
        "Every core has a block of register groups, parameters and a timer (seed 001; the"
        f" addresses and the form of a record are not from the seed). {_reached(cores)}"
    )
    sheet.blocks.append(
        "An instruction begins in the cycle in which it can execute. If it waits before this cycle,"
        " for a transfer, for another core or at a window, the wait is not recorded. An instruction"
        " ends when its result is ready; a memory access ends when the memory has done it. In mark"
        " mode markers are not recorded; in auto mode they are recorded like other instructions. Recording takes no cycle."
    )
    chapters = ("Registers of a group", "Parameters", "Compute units", "Structures")
    sheet.blocks.append("\n".join(f"- [{name}](#{slug(name)})" for name in chapters))
    sheet.heading(2, chapters[0])
    _group_registers(sheet)
    sheet.heading(2, chapters[1])
    _trace_parameters(sheet)
    sheet.heading(2, chapters[2])
    sheet.table(
        ("core", "what `t_cu_begin`, `t_cu_end`, `e_cu` and `e_array` count"),
        ([core.name, _escaped(core.unit) or "nothing yet"] for core in cores),
    )
    sheet.heading(2, chapters[3])
    _described(sheet, pages.structure("the trace block", trace.RECORD))
    return sheet.text()


def _legal(row: trace.Parameter) -> str:
    if row.access != "rw":
        return ""
    return f"0 to {row.high}{f', a multiple of {row.step}' if row.step > 1 else ''}"


def _address(rows: Iterable[SpecialRegister], name: str) -> str:
    return next(f"{row.address:#x}" for row in rows if row.name == name)


def _reached(cores: Sequence[Core]) -> str:
    """Return the sentence that says how programs access the trace registers, and on which cores."""
    rows = set(trace.csrs())
    as_csrs = " and ".join(core.name for core in cores if rows <= set(core.specials)) or "none"
    return f"Its registers are memory-mapped. Cores that also have them as CSRs: {as_csrs}."


def directives_file(pages: Iterable[Page], others: Mapping[str, Mapping[str, str]]) -> str:
    """Return the Markdown file of the directives and functions in `pages`.

    `others` has the anchors in the files of the cores: `others[core][name]` is what `core_file`
    returns for an item of the core. The file links to those items that are directives.
    """
    everything = list(pages)
    sheet = Sheet("Directives and functions of every part")
    own = [
        f"[`{name}`]({core}.md#{anchor})"
        for core, anchors in others.items()
        for name, anchor in anchors.items()
        if name.startswith(".")
    ]
    sheet.blocks.append(f"Directives for the code of one core only: {', '.join(own)}.")
    for name in dict.fromkeys(_chapter(item) for item in everything):
        sheet.heading(2, name)
        for item in everything:
            if _chapter(item) == name:
                _described(sheet, item)
    return sheet.text()


def index_file(cores: Sequence[Core], anchors: Mapping[str, Mapping[str, str]]) -> str:
    """Return the Markdown start page: a list of the files, and links to all mnemonics of `cores`.

    `anchors` has the anchor of each mnemonic, by core and mnemonic.
    """
    sheet = Sheet("Reference")
    sheet.blocks.append(
        "What `macaw isa NAME` says, as pages: bits, operands, meaning, cycles and an example of"
        " every instruction."
    )
    rows = [[f"[{core.name}]({core.name}.md)", core.title] for core in cores]
    rows.append(["[directives](directives.md)", "directives and functions of every part"])
    rows.append(["[device](device.md)", "what every core has, memory, how a run ends"])
    rows.append(["[trace](trace.md)", "the trace block: register groups, parameters, records"])
    sheet.table(("page", "about"), rows)
    for core in cores:
        if core.instructions:
            sheet.heading(2, f"Mnemonics of {core.name}")
            names = sorted(core.rows)
            links = (f"[`{name}`]({core.name}.md#{anchors[core.name][name]})" for name in names)
            sheet.blocks.append(" ".join(links))
    return sheet.text()


def _chapter(item: Page) -> str:
    """Return the second-level heading under which a page belongs."""
    if item.kind == "instruction" and item.detail:
        return f"Instructions: {item.detail}"
    plural = f"{item.kind[:-1]}ies" if item.kind.endswith("y") else f"{item.kind}s"
    text = item.kind if " a run " in item.kind else plural
    return text[0].upper() + text[1:]


def _contents(sheet: Sheet, chapters: Mapping[str, Sequence[Page]]) -> None:
    """Add to a sheet a list with a link to each chapter."""
    links = [f"- [{name}](#{slug(name)})" for name in chapters]
    sheet.blocks.append("\n".join(links))


def _described(sheet: Sheet, item: Page) -> None:
    """Add a page of the reference to a sheet, below a heading with the page's name."""
    anchor = sheet.heading(3, item.name if slug(item.name) else item.title)
    sheet.anchors.setdefault(item.name, anchor)
    if item.title != item.name:
        sheet.blocks.append(f"`{item.title}`")
    sheet.blocks.append(_escaped(item.meaning))
    if item.bits:
        sheet.blocks.append(f"```text\n{item.bits}\n```")
    if item.members:
        rows = [(a, b, f"`{name}`", _escaped(text)) for a, b, name, text in item.members]
        sheet.table(("offset", "type", "member", "meaning"), rows)
    entries = [
        (heading, "<br>".join(_entry(sheet, heading, text) for text in texts))
        for heading, texts in item.entries
        if heading != "Example"
    ]
    if entries:
        sheet.table(("", ""), entries)
    if item.entry("Example"):
        sheet.blocks.append("\n".join(["```asm", *item.entry("Example"), "```"]))


def _entry(sheet: Sheet, heading: str, text: str) -> str:
    """Return `text`, a paragraph below `heading` of a page, as Markdown.

    Source text is in code format. `sheet` has the anchors for links to instructions.
    """
    if heading == "Stands for" and text != "or":
        mnemonic, _, rest = text.partition(" ")  # instructions have their anchors already
        link = f"[`{mnemonic}`](#{sheet.anchors[mnemonic]})"
        return f"{link} `{rest}`" if rest else link
    if heading == "Operands":
        name, _, rest = text.partition(": ")
        return f"`{name}`: {_escaped(rest)}"
    return _linked(sheet, _escaped(text))


def _rows(sheet: Sheet, members: Sequence[Page]) -> None:
    """Add pages of one kind, such as registers, to a sheet as a table with a row for each page.

    The columns are the name, the headings of the pages' paragraphs, and the meaning. The headings
    Example, Shown by and Width are left out. In a table of registers, all rows have the same
    meaning; it is not a column but a paragraph above the table.
    """
    if members[0].kind == "register":
        sheet.blocks.append(_escaped(members[0].meaning))
    headings = list(dict.fromkeys(heading for item in members for heading, _ in item.entries))
    dropped = ("Example", "Shown by", "Width")
    columns = [heading for heading in headings if heading not in dropped]
    about = [] if members[0].kind == "register" else ["meaning"]
    sheet.table(
        ["name", *(heading.lower() for heading in columns), *about],
        (
            [
                ", ".join(f"`{name}`" for name in item.title.split(", ")),
                *(_linked(sheet, _escaped(" ".join(item.entry(x)))) for x in columns),
                *([_escaped(item.meaning)] if about else []),
            ]
            for item in members
        ),
    )


def _linked(sheet: Sheet, text: str) -> str:
    """Return Markdown in which the names of the core's settings in `text` link to their table.

    `sheet` has the names of the settings.
    """
    names = "|".join(map(re.escape, sheet.settings))
    return re.sub(rf"(?<![\w.])({names})\b", rf"[\1](#{slug(_SETTINGS)})", text) if names else text


def _escaped(text: str) -> str:
    """Return plain text as Markdown, with its special characters escaped."""
    return re.sub(r"([\\`*<>\[\]]|(?<!\w)_|_(?!\w))", r"\\\1", text)
