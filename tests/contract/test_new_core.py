"""The files of docs/adding-a-core.md, added to a copy of the packages, make a core that works."""

import json
import re
import shutil
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.contract.tree import ROOT, Tree

PAGE = (ROOT / "docs" / "adding-a-core.md").read_text("utf-8")
CODE = r"\n\n```(?:python)?\n(.*?)```"


def block(heading: str) -> str:
    (found,) = re.findall(rf"^{re.escape(heading)}:{CODE}", PAGE, re.M | re.S)
    return found


def files() -> dict[str, str]:
    """The texts of the page's new files by path."""
    return dict(re.findall(rf"^`([\w/.]+)`:{CODE}", PAGE, re.M | re.S))


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    made = Tree(tmp_path_factory.mktemp("tally"))
    for name, text in files().items():
        made.write(name, text)
    return made


def test_the_page_makes_what_it_says_a_core_is():
    """The page adds two modules in isa, a folder in emu and a program, and changes no file."""
    folders = {Path(name).parent.as_posix() for name in files()}
    assert folders == {"isa/descriptors", "isa", "emu/tally", "."}
    isa = [name for name in files() if name.startswith("isa/")]
    assert isa == ["isa/descriptors/tally.py", "isa/tally.py"]
    assert not any((ROOT / name).exists() for name in files())


def test_it_assembles_and_disassembles(tree: Tree):
    tree.macaw("asm", "tally.s", "-o", "tally.elf")
    listing = tree.macaw("dis", "--core", "tally", "tally.elf")
    lines = [line.split("#")[0].split() for line in listing.splitlines()]
    # By hand: opcode in bits 31:24, the sum in 17:16, n in 15:0.
    for wanted in (["count", "sum0,", "5"], ["count", "sum0,", "-7"], ["count", "sum3,", "40"]):
        assert wanted in lines
    assert ["stop"] in lines
    words = tree.python("""
        from macaw import load
        part = next(x for x in load("tally.elf").sections if x.core == "tally")
        print(part.data.hex(" ", 4))
    """)
    raw = bytes.fromhex(words)
    found = [int.from_bytes(raw[at : at + 4], "little") for at in range(0, len(raw), 4)]
    assert found == [0x0100_0005, 0x0100_FFF9, 0x0103_0028, 0x0200_0000]
    tree.write("again.s", tree.macaw("dis", "tally.elf"))
    tree.macaw("asm", "again.s", "-o", "again.elf")
    assert tree.macaw("dis", "again.elf") == tree.read("again.s")


def test_it_runs_and_tells_its_listeners(tree: Tree):
    """A run announces the begin and end of each of the four instructions once, 2 cycles apart."""
    found = json.loads(
        tree.python("""
            import json
            import macaw
            from macaw.emu.device import Device
            from macaw.execution import configuration_of, final_registers

            program = macaw.assemble("tally.s")
            device = Device(configuration_of(program))
            device.load(program)
            events = []
            device.listen(events.append, ["tally"])
            before = device.snapshot()
            stop = device.run(10_000)
            shown = final_registers(device, changed=False)["tally"]
            counters = device.counters()["tally"]
            after = device.hash()
            device.restore(before)
            cleared = final_registers(device, changed=False)["tally"]
            device.run(10_000)
            again = device.hash()
            print(json.dumps({
                "stop": stop.reason,
                "events": [(x.kind, x.time, list(x.values.values())) for x in events],
                "registers": shown, "cleared": cleared, "counters": counters,
                "same": after == again,
                "line": device.place(events[0].values["address"])[1],
            }))
        """)
    )
    assert found["stop"] == "exit"
    assert found["registers"] == {"sum0": 0xFFFF_FFFE, "sum1": 0, "sum2": 0, "sum3": 40}
    assert found["cleared"] == dict.fromkeys(found["registers"], 0)
    assert found["counters"] == {"instructions": 4}
    assert found["same"] is True
    assert found["line"] == 2
    _kind, start, (base,) = found["events"][0]
    assert found["events"][:8] == [
        event
        for i, time in enumerate(range(start, start + 8, 2))
        for event in (["instruction", time, [base + 4 * i]], ["done", time, [time, time + 2]])
    ]
    assert len(found["events"]) == 16  # the second run's too


def test_reports_show_it(tree: Tree):
    done = tree.run("-m", "macaw", "run", "--stats", "tally.s")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^tally\b", done.stderr, re.M)
    assert re.search(r"^instructions +4 ", done.stderr, re.M)
    tree.write("golden/tally.s", tree.read("tally.s"))
    tree.write("golden/golden.toml", 'source = "tally.s"\nrecord = ["registers", "counters"]\n')
    tree.macaw("test", "--update", "golden")
    record = json.loads(tree.read("golden/expected/run.json"))
    assert record["registers"]["tally"]["sum3"] == 40
    assert record["counters"]["tally"] == {"instructions": 4}
    assert "tally.count_cycles" in tree.macaw("isa", "tally.count_cycles")
    assert "count into, n" in tree.macaw("isa", "count")


def test_the_profile_shows_it(tree: Tree):
    """The profile has a row for the new core after the others, and a slice for each instruction."""
    found = json.loads(tree.macaw("profile", "tally.s", "--json", "-"))
    row = [track for track in found["tracks"] if track["core"] == track["row"]][-1]
    assert row["core"] == "tally"
    places = [f"{slice_['place']} {slice_['name']}" for slice_ in row["slices"]]
    assert places == [
        "tally.s:2 count sum0, 5", "tally.s:3 count sum0, -7",
        "tally.s:4 count sum3, 40", "tally.s:5 stop",
    ]  # fmt: skip
    assert "tally" in found["bottleneck"]["saved"]
    merged = json.loads(tree.macaw("profile", "tally.s", "--json", "-", "--segments", "2"))
    assert merged["merge"]["error"] == 0
    assert merged["cycles"] == found["cycles"]


def test_its_cycles_are_work(tree: Tree):
    """Each cycle of an instruction is charged to its line; other cycles of the core are idle."""
    found = json.loads(tree.macaw("annotate", "tally.s", "--json", "-"))
    cycles = {
        line["number"]: cost["cycles"]
        for line in found["lines"]
        for cost in line["costs"]
        if cost["core"] == "tally"
    }
    assert set(cycles.pop(0)) == {"before", "tail"}  # without an instruction
    assert cycles == {number: {"work": 2} for number in (2, 3, 4, 5)}


def test_its_faults_and_mistakes_name_it(tree: Tree):
    tree.write("bad.s", "\t.core tally\n\t.word 0x05000000\n")
    done = tree.run("-m", "macaw", "run", "bad.s")
    assert done.returncode == 1
    assert "tally: illegal instruction" in done.stderr
    tree.write("wrong.s", "\t.core tally\n\tcount sum4, 1\n\tcount sum0, 40000\n\tadd a0, a0, a0\n")
    done = tree.run("-m", "macaw", "asm", "wrong.s")
    assert "'sum4' is no sum" in done.stderr
    assert "-32768 to 32767" in done.stderr
    assert "cp and vc have it; this part is of tally" in done.stderr


def test_manual_and_editors_have_it(tree: Tree):
    done = tree.run("docs/build.py")
    assert done.returncode == 0, done.stderr
    assert "Add n to a sum." in tree.read("docs/isa/tally.md")
    assert "tally" in tree.read("docs/isa/README.md")
    assert "tally" in tree.read("editors/vim/syntax/macaw.vim")


def test_no_recording_changes(tree: Tree):
    """With the new core in the device, existing golden tests still pass."""
    for name in ("hello", "own_cp"):
        shutil.copytree(ROOT / "programs" / name, tree.folder / "programs" / name)
        assert tree.macaw("test", f"programs/{name}").startswith("ok ")


@contextmanager
def changed(tree: Tree, path: str, *changes: tuple[str, str]) -> Iterator[None]:
    """Replace texts of a file in the tree; restore the file at the end of the `with` block."""
    before = text = tree.read(path)
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    try:
        tree.write(path, text)
        yield
    finally:
        tree.write(path, before)


def final_registers(tree: Tree, name: str, source: str) -> dict[str, dict[str, int]]:
    """The final registers of each core that did something, as a golden test records them."""
    tree.write(f"{name}.s", source)
    tree.write(f"{name}/{name}.s", source)
    tree.write(f"{name}/golden.toml", f'source = "{name}.s"\nrecord = ["registers"]\n')
    tree.macaw("test", "--update", name)
    return json.loads(tree.read(f"{name}/expected/run.json"))["registers"]


def test_an_instruction_is_added(tree: Tree):
    """An instruction needs a row in the table and a function at the end of the semantics."""
    row = next(line for line in tree.read("isa/tally.py").splitlines(True) if 'I("count"' in line)
    more = row + block("`isa/tally.py`, below the row of `count`")
    last = block("`emu/tally/semantics.py`").splitlines(True)[-1]
    function = block("`emu/tally/semantics.py`, at its end")
    source = "\t.core tally\n\tcount sum1, 3\n\tcount sum2, 4\n\tclear sum1\n\tstop\n"
    with (
        changed(tree, "isa/tally.py", (row, more)),
        changed(tree, "emu/tally/semantics.py", (last, f"{last}\n\n{function}")),
    ):
        found = final_registers(tree, "clear", source)
        assert found["tally"] == {"sum0": 0, "sum1": 0, "sum2": 4, "sum3": 0}
        tree.macaw("asm", "clear.s", "-o", "clear.elf")
        assert re.search(r"clear +sum1", tree.macaw("dis", "clear.elf"))


def test_a_core_of_several_instances(tree: Tree):
    """A core of two instances: each has its program, its number and its registers."""
    setting = '    Setting("tally.lanes", 2, "instances", "", 1, 4),\n'
    descriptor = tree.read("isa/descriptors/tally.py")
    divider = next(x for x in descriptor.splitlines(True) if "tally.divider" in x)
    one = "super().__init__(device, CORE, CORE.name, CORE.number, FIELDS)"
    each = 'super().__init__(device, CORE, f"{CORE.name}[{lane}]", CORE.number + lane, FIELDS)'
    made = "[Processor(device, lane) for lane in range(device.config['tally.lanes'])]"
    source = "".join(f"\t.core tally, lane={x}\n\tcount sum{x}, {x + 7}\n\tstop\n" for x in (1, 0))
    with (
        changed(
            tree,
            "isa/descriptors/tally.py",
            (divider, divider + setting),
            ('".text.tally"', '".text.tally.{}"'),
            ("settings=SETTINGS,", 'settings=SETTINGS, index="lane",'),
        ),
        changed(tree, "emu/tally/__init__.py", ("[Processor(device)]", made)),
        changed(
            tree,
            "emu/tally/processor.py",
            (one, each),
            ("device: System)", "device: System, lane: int)"),
        ),
    ):
        found = final_registers(tree, "lanes", source)
        assert found["tally[0]"] == {"sum0": 7, "sum1": 0, "sum2": 0, "sum3": 0}
        assert found["tally[1]"] == {"sum0": 0, "sum1": 8, "sum2": 0, "sum3": 0}
        tree.macaw("asm", "lanes.s", "-o", "lanes.elf")
        listing = tree.macaw("dis", "lanes.elf")
        assert "tally, lane=0" in listing
        assert "tally, lane=1" in listing


MEMORIES = """
            memories=(Memory("code", 0x3040_0000, 20, "mem.bank_width", "code", True, 16),),
            windows=(Window("numbers", 0x3048_0000, 20, 64, "in", "bytes for sum0"),),
"""
WINDOW = """
    def window_room(self, window: str, time: int, wanted: int) -> tuple[int, int]:
        return 3, NEVER

    def push(self, window: str, data: bytes, time: int) -> None:
        self.state.sums[0] += sum(data)

    def pull(self, window: str, length: int, time: int) -> bytes:
        raise NotImplementedError
"""


def test_a_core_with_a_memory_and_a_window(tree: Tree):
    """A core with a memory and a window: its words are loaded, and the dma feeds the window."""
    order = '        order=("tally",),\n'
    with (
        changed(
            tree,
            "isa/tally.py",
            (order, textwrap.indent(textwrap.dedent(MEMORIES), "        ") + order),
            (
                "Counter, RegisterFile, checked",
                "Counter, Memory, RegisterFile, Window, checked",
            ),
        ),
        changed(
            tree,
            "emu/tally/processor.py",
            ("    def _fetched", f"{WINDOW}\n    def _fetched"),
            ("(Core, Startable)", "(Core, Startable, Windowed)"),
            (
                "from macaw.isa.tally",
                "from macaw.emu.windows import Windowed\nfrom macaw.isa.tally",
            ),
        ),
    ):
        tree.write("fed.s", "\t.input q, uint8, 10, at=numbers\n" + tree.read("tally.s"))
        tree.macaw("asm", "fed.s", "-o", "fed.elf")
        assert "q, uint8, 10, at=numbers" in tree.macaw("dis", "fed.elf")
        found = json.loads(
            tree.python("""
                import json
                import numpy as np
                import macaw
                from macaw.execution import final_registers

                program = macaw.load("fed.elf")
                section = next(x for x in program.sections if x.core == "tally")
                run = macaw.run(program, q=np.arange(10, dtype=np.uint8))
                sums = final_registers(run.device, changed=False)["tally"]
                print(json.dumps([section.address, section.load_address, sums]))
            """)
        )
        assert found[:2] == [0x3040_0000, 0x3040_0000]
        assert found[2] == {"sum0": 45 - 2 & 0xFFFF_FFFF, "sum1": 0, "sum2": 0, "sum3": 40}
        tree.write("long.s", "\t.core tally\n\t.rept 65\n\tcount sum0, 1\n\t.endr\n")
        done = tree.run("-m", "macaw", "asm", "long.s")
        assert done.returncode == 2
        assert ".text.tally takes 260 bytes, its memory has 128 (mem.bank_width)" in done.stderr
        tree.write("at.s", "\t.input q, uint8, 10, at=nowhere\n" + tree.read("tally.s"))
        done = tree.run("-m", "macaw", "asm", "at.s")
        assert "the device has no memory 'nowhere' for tensors" in done.stderr
        assert "numbers" in done.stderr


def test_the_contract_of_a_core_is_small() -> None:
    """`Core` has few public names; an ability that only some cores have is a separate class."""
    from macaw.emu.agents import Agent
    from macaw.emu.core import Core
    from macaw.emu.inspection import Inspectable
    from macaw.emu.traced import Traced
    from macaw.emu.waiter import Waiter

    own = {name for name in vars(Core) if not name.startswith("_")}
    assert len(own) <= 12, own
    for part in (Agent, Waiter, Traced, Inspectable):
        assert sum(not name.startswith("_") for name in vars(part)) <= 12, part
