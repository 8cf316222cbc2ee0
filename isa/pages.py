"""The pages of the reference as data, which `manual` prints as text and `markdown` as Markdown.

All pages of a kind have the same headings. The assembler calls `directive` to make the pages of
directives that every part accepts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Protocol

from macaw.isa import codec, common, config, trace
from macaw.isa.advice import ADVICE
from macaw.isa.causes import CAUSES
from macaw.isa.diagram import diagram
from macaw.isa.kinds import Choice, Flag
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.memory_map import CORE_SHIFT
from macaw.isa.memory_map import REGISTERS as REGISTERS_BASE
from macaw.isa.model import (
    Core,
    Counter,
    Fault,
    Memory,
    Queue,
    RegisterFile,
    Rule,
    Setting,
    SpecialRegister,
    Structure,
    Window,
)
from macaw.isa.rows import Operand, Pseudo, PseudoOperand, Row


class Described(Protocol):
    """A row of a table of directives, in `isa` or in `asm`; `directive` makes a page of it."""

    @property
    def name(self) -> str: ...
    @property
    def syntax(self) -> str: ...
    @property
    def meaning(self) -> str: ...
    @property
    def example(self) -> str: ...


@dataclass(frozen=True)
class Page:
    """A page of the reference: a name, a sentence, and paragraphs below headings.

    `owner` is the core or other item to which it belongs. `entries` has (heading, paragraphs),
    `members` (offset, type, name, meaning) of a structure's members. `bits` is a drawing of an
    instruction word. `detail` adds to `kind`, for example the family of an instruction. `also` are
    other names by which a user finds the page.
    """

    name: str  # the name by which a user finds it
    title: str  # the name as printed
    owner: str  # the core or other item to which it belongs
    kind: str
    meaning: str
    bits: str = ""  # a drawing
    members: tuple[tuple[str, str, str, str], ...] = ()  # offset, type, name, meaning
    entries: tuple[tuple[str, tuple[str, ...]], ...] = ()  # heading and paragraphs
    detail: str = ""  # more about the kind: an instruction's family
    also: tuple[str, ...] = ()  # other names by which a user finds it

    def entry(self, heading: str) -> tuple[str, ...]:
        """Return the paragraphs below a heading; an empty tuple if the page has no such heading."""
        return dict(self.entries).get(heading, ())


def _entries(**texts: str | Sequence[str]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return (heading, paragraphs) for the texts that are not empty.

    Underscores in a name become blanks: `Stands_for` gives the heading "Stands for".
    """
    entries = {
        name.replace("_", " "): (text,) if isinstance(text, str) else tuple(text)
        for name, text in texts.items()
        if text
    }
    return tuple(entries.items())


# --- pages of a core ---


def row(core: Core, item: Row) -> Page:
    """Return the page of an instruction or pseudo-instruction."""
    if isinstance(item, Pseudo):
        return _pseudo(core, item)
    return Page(
        item.mnemonic,
        ", ".join((codec.syntax(item), *(form for form, _ in item.carries))),
        core.name,
        "instruction",
        item.meaning,
        detail=item.family,
        bits=diagram(item),
        entries=_entries(
            Operands=[
                *_operands(item.operands),
                *(f"{form.rstrip('=')}: {meaning}" for form, meaning in item.carries),
            ],
            Reads=item.reads.replace(" ", ", ") or "nothing",
            Writes=item.writes.replace(" ", ", ") or "nothing",
            Cycles=_cycles(core, item.cycles),
            Example=item.example,
            Source=item.source,
        ),
    )


def _pseudo(core: Core, item: Pseudo) -> Page:
    lines: list[str] = []
    for alternative in item.alternatives:
        lines += ["or"] if lines else []
        lines += [re.sub(r"\{(\w+)\}", r"\1", line) for line in alternative.lines]
    return Page(
        item.mnemonic,
        codec.syntax(item),
        core.name,
        "pseudo-instruction",
        item.meaning,
        entries=_entries(
            Operands=_operands(item.operands),
            Stands_for=lines,
            Cycles="the cycles of the instructions for which it stands",
            Example=item.example,
        ),
    )


def _operands(operands: Sequence[Operand] | Sequence[PseudoOperand]) -> list[str]:
    lines: list[str] = []
    for operand in operands:
        text = operand.kind.describe()
        if operand.default is not None and not operand.kind.optional:
            text += f"; {operand.kind.format(operand.default)} if left out"
        lines.append(f"{operand.name}: {text}")
    return lines


def _cycles(core: Core, text: str) -> str:
    """Return a row's text about cycles, with full names and defaults of the settings in it."""
    for setting in core.settings:
        prefix, _, short = setting.name.rpartition(".")
        named = re.escape(setting.name)
        if prefix == core.name and "_" in short:
            named = rf"{named}|(?<![\w.]){re.escape(short)}"
        text = re.sub(rf"(?:{named})\b", f"{setting.name} ({setting.default})", text)
    return text


def structure(owner: str, item: Structure) -> Page:
    """Return the page of the record `item`.

    `owner` is the core or other item to which the record belongs.
    """
    members = []
    for member in item.members:
        legal = f"; {member.kind.describe()}" if member.kind else ""
        default = f"; {member.default} by default" if member.default else ""
        offset = str(item.offsets[member.name])
        members.append((offset, member.type, member.name, f"{member.meaning}{legal}{default}"))
    return Page(
        item.name,
        item.name,
        owner,
        "structure",
        item.meaning,
        detail=f"structure of {item.size} bytes",
        members=tuple(members),
        entries=_entries(Then_follow=item.then),
    )


def directive(owner: str, item: Described) -> Page:
    """Return the page of the directive `item`.

    `owner` is the core or other item to which the directive belongs.
    """
    return Page(
        item.name,
        item.syntax,
        owner,
        "directive",
        item.meaning,
        entries=_entries(Example=item.example.split("\n") if item.example else ""),
    )


def registers(core: Core, item: RegisterFile) -> Iterator[Page]:
    """Yield a page for each register of a register file."""
    for number, names in enumerate(item.names):
        yield Page(
            names[0],
            ", ".join(names),
            core.name,
            "register",
            item.meaning,
            entries=_entries(
                Number=f"{number} of {len(item.names)}, counted from 0",
                Width=f"{item.width} bits",
                Holds=item.about[number] if item.about else "",
            ),
            also=names[1:],
        )


def special(owner: str, item: SpecialRegister) -> Page:
    """Return the page of `item`, a control and status register of the core `owner`."""
    access = {"ro": "can be read", "rw": "can be read and written"}[item.access]
    return Page(
        item.name,
        item.name,
        owner,
        "special register",
        _sentence(item.meaning),
        entries=_entries(Number=f"{item.address:#x}; {access}", Width=f"{item.width} bits"),
    )


def mapped(owner: str, item: SpecialRegister, core: Core | None = None) -> Page:
    """Return the page of a memory-mapped register, of the core `core` or of all cores (None).

    `owner` is the name of this core, or "every core".
    """
    access = {"ro": "can be read", "rw": "can be read and written"}[item.access]
    number = f"{core.index} number" if core is not None and core.index else "core number"
    first = REGISTERS_BASE + item.address + ((core.number << CORE_SHIFT) if core is not None else 0)
    step = f" + ({number} << {CORE_SHIFT})" if core is None or core.index else ""
    where = f"{first:#x}{step}; {access}"
    return Page(
        item.name,
        item.name,
        owner,
        "memory-mapped register",
        _sentence(item.meaning),
        entries=_entries(Address=where, Width=f"{item.width} bits"),
    )


def _place(core: Core, item: Memory | Window) -> str:
    """Return the text about the address at which a core's memory or window begins."""
    step = f" + ({core.index} << {item.shift})" if core.index else ""
    return f"{item.base:#x}{step}"


def memory(core: Core, item: Memory) -> Page:
    """Return the page of a memory that belongs to a core."""
    setting = item.setting(0)
    size = f"{setting} ({config.settings()[setting].default})"
    entries = _entries(Address=_place(core, item), Size=size)
    return Page(item.name, item.name, core.name, "memory", _sentence(item.meaning), entries=entries)


def window(core: Core, item: Window) -> Page:
    """Return the page of a window of a core."""
    way = {"in": "takes what is written", "out": "gives what is read"}[item.direction]
    where = f"{_place(core, item)}, {item.size:#x} bytes; {way}"
    meaning = _sentence(item.meaning)
    entries = _entries(Address=where)
    return Page(item.name, item.name, core.name, "window", meaning, entries=entries)


def queue(core: Core, item: Queue) -> Page:
    """Return the page of a queue."""
    setting = config.settings()[item.capacity]
    size = f"{setting.name} ({setting.default})"
    meaning = _sentence(item.meaning)
    return Page(item.name, item.name, core.name, "queue", meaning, entries=_entries(Capacity=size))


def counter(owner: str, item: Counter) -> Page:
    """Return the page of the counter `item`.

    `owner` is the core or other item to which the counter belongs.
    """
    return Page(
        item.name,
        item.name,
        owner,
        "counter",
        _sentence(item.meaning),
        entries=_entries(Unit=item.unit, Shown_by="macaw run --stats"),
        detail="high-water mark" if item.peak else "",
    )


def rule(owner: str, item: Rule) -> Page:
    """Return the page of the rule `item`.

    `owner` is the core or other item to which the rule belongs.
    """
    return Page(item.name, item.name, owner, "rule", item.meaning)


def fault(owner: str, item: Fault) -> Page:
    """Return the page of the fault `item`.

    `owner` is the core or other item to which the fault belongs.
    """
    return Page(item.name, item.name, owner, "fault", item.meaning)


def stop(item: Fault) -> Page:
    """Return the page of a reason, such as a deadlock, for which a run ends without a fault."""
    return Page(item.name, item.name, "macaw run", "how a run ends", item.meaning)


_LONG_VALUES = 120  # characters; the values of longer lists stand on lines of their own


def setting(item: Setting) -> Page:
    """Return the page of a setting, with its values in the presets."""
    table, _, key = item.name.rpartition(".")
    values = (f"{config.shown(item.default)} by default", *_of_presets(item))
    between = "; " if len("".join(values)) > _LONG_VALUES else ", "
    return Page(
        item.name,
        item.name,
        "device",
        "setting",
        _sentence(item.meaning),
        entries=_entries(
            Unit=item.unit,
            Value=between.join(values),
            Legal=config.legal(item),
            Example=(f"[{table}]", f"{key} = {config.shown(item.default)}"),
        ),
        also=(key,),
    )


@cache
def _shipped() -> Mapping[str, config.Configuration]:
    return {name: config.load(name) for name in config.presets()}


def _of_presets(item: Setting) -> list[str]:
    """Return a sentence for each preset in which a setting's value differs from the default."""
    return [
        f"{config.shown(device[item.name])} on {name}"
        for name, device in _shipped().items()
        if device[item.name] != item.default
    ]


def _sentence(text: str) -> str:
    """Return a phrase of a table as a sentence, with a capital letter and a full stop."""
    text = text[:1].upper() + text[1:]
    return text if text.endswith(".") else f"{text}."


def words(core: Core) -> Iterator[Page]:
    """Yield a page for each word that an operand or a member of a structure accepts."""
    texts: dict[str, list[str]] = {}
    users: dict[tuple[str, str, str], list[str]] = {}  # of words that say what they mean
    for instruction in core.instructions:
        for operand in instruction.operands:
            if isinstance(operand.kind, Flag):
                text = f"A flag of {instruction.mnemonic}: writing this word sets the flag."
                texts.setdefault(operand.kind.word, []).append(text)
            elif isinstance(operand.kind, Choice):
                text = f"The {operand.name} of {instruction.mnemonic}: {operand.kind.describe()}."
                for word in operand.kind.words():
                    about = operand.kind.about(word)
                    if about:
                        texts.setdefault(word, [])
                        users.setdefault((word, about, operand.name), []).append(
                            instruction.mnemonic
                        )
                    else:
                        texts.setdefault(word, []).append(text)
    for (word, about, name), mnemonics in users.items():
        texts[word].append(f"{about} The {name} of {', '.join(mnemonics)} may be this.")
    for item in core.structures:
        for member in item.members:
            if isinstance(member.kind, Choice):
                text = f"The field {member.name} of the structure {item.name} ({member.meaning}): "
                for word in member.kind.words():
                    texts.setdefault(word, []).append(f"{text}{member.kind.describe()}.")
    for word, lines in texts.items():
        yield Page(word, word, core.name, "word", " ".join(lines))


# --- all pages ---


def of_core(core: Core) -> Iterator[Page]:
    """Yield all pages of a core, in the order of its table."""
    families = dict.fromkeys((*core.order, *(item.family for item in core.instructions)))
    for family in families:
        yield from (row(core, item) for item in core.instructions if item.family == family)
    yield from (row(core, item) for item in core.pseudos)
    yield from (structure(core.name, item) for item in core.structures)
    yield from (directive(core.name, item) for item in core.directives)
    yield from words(core)
    for file in core.files:
        yield from registers(core, file)
    yield from (special(core.name, item) for item in core.specials)
    yield from (mapped(core.name, item, core) for item in core.registers)
    yield from (memory(core, item) for item in core.memories)
    yield from (window(core, item) for item in core.windows)
    yield from (queue(core, item) for item in core.queues)
    yield from (counter(core.name, item) for item in core.counters)
    yield from (rule(core.name, item) for item in core.rules)
    yield from (fault(core.name, item) for item in core.faults)
    yield from (setting(item) for item in core.settings)


def of_device() -> Iterator[Page]:
    """Yield the pages about the device: the rows that belong to no single core."""
    yield from (mapped("every core", item) for item in common.REGISTERS)
    yield from (counter("every core", item) for item in common.TRAFFIC)
    yield from (stop(item) for item in common.STOPS)
    yield from (setting(item) for item in (*config.COMMON, *trace.SETTINGS))


def of_trace() -> Iterator[Page]:
    """Yield a page for each register of a register group of the trace; all groups are alike."""
    for item in trace.GROUP:
        yield Page(
            item.name,
            item.name,
            "every core",
            "trace register",
            _sentence(item.meaning),
            entries=_entries(
                Groups=f"one in each register group; {trace.group_register(item, 0)} is of group 0"
            ),
        )


def of_causes() -> Iterator[Page]:
    """Yield a page for each cause to which `macaw profile` charges cycles, with its advice."""
    advice = {item.cause: item.text for item in ADVICE}
    for item in CAUSES:
        yield Page(
            item.name,
            item.name,
            "macaw profile",
            "cause",
            _sentence(item.meaning),
            entries=_entries(
                Part_of=item.parent,
                Advice=_sentence(advice[item.name]) if item.name in advice else "",
            ),
        )
