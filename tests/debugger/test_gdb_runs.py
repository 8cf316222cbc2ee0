"""gdb debugs programs: scripts and their output, random sessions, Ctrl-C, run and kill.

`python -m tests.debugger.test_gdb_runs` writes the expected texts again.
"""

from __future__ import annotations

import contextlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from macaw import api
from macaw.asm.program import Section
from macaw.debugger.expressions import ExpressionError
from macaw.debugger.gdb import server
from macaw.debugger.gdb.link import Link
from macaw.debugger.gdb.target import Target
from macaw.debugger.session import Session
from macaw.debugging import debug as debug_api
from macaw.execution import configuration_of
from tests.debugger.gdb_client import GDB, gdb, target_of
from tests.debugger.programs import PROGRAMS, loaded, of_source, session
from tests.debugger.sources import HELLO, VERY_LONG_LOOP

pytestmark = pytest.mark.once

RUNS = Path(__file__).parent / "gdb_runs"
SCRIPTS = sorted(path.stem for path in RUNS.glob("*.gdb"))
VERSION = "13.1"  # of gdb, whose words the expected texts have

# gdb is no package of Python: without it there is nothing to test.
needs_gdb = pytest.mark.may_skip_in_ci


def program_of(name: str, folder: Path) -> tuple[Path, Session]:
    """The ELF file of a script, with its source beside it, and a session of its program.

    The source is written first, because gdb warns if it is newer than the ELF file by a second.
    """
    elf = folder / f"{name}.elf"
    if name == "six_cores":
        program, inputs = loaded(name)
        shutil.copy(PROGRAMS / name / f"{name}.s", folder)
        api.save(program, elf)
        return elf, Session(program, configuration_of(program), inputs)
    if name == "wrong_shift":
        for path in (PROGRAMS / name).iterdir():
            if path.suffix in (".s", ".npy"):
                shutil.copy(path, folder)
        shutil.copy(server.CLIENT, folder)
        program = api.load(folder / "wrong_shift.s")
        api.save(program, elf)
        return elf, debug_api(program, x=np.load(folder / "x.npy"))
    if name == "c_vector":
        shutil.copy(PROGRAMS / name / "main.c", folder)
        shutil.copy(PROGRAMS / name / "c_vector.elf", elf)
        return elf, session(name)
    shutil.copy(RUNS / "stepped.c", folder)
    shutil.copy(RUNS / f"{name}.elf", elf)
    program = api.load(elf)
    return elf, Session(program, configuration_of(program))


def printed(name: str, folder: Path) -> str:
    """The output of gdb for a script, with the commands.

    Paths have no folders. Columns of tables are separated by two blanks, because their widths
    depend on the folders.
    """
    elf, debug = program_of(name, folder)
    lines = (RUNS / f"{name}.gdb").read_text("utf-8").splitlines()
    commands = [word for line in lines for word in (f"echo (gdb) {line}\\n", line)]
    with contextlib.chdir(folder):  # of this process: commands of the debugger read files
        text = "\n".join(gdb(elf, debug, commands, folder))
    text = text.replace(f"{folder}/", "").replace(f"{PROGRAMS / name}/", "")
    text = re.sub(r"(?<=\S) {2,}", "  ", text)
    return re.sub(r"127\.0\.0\.1:\d+|:\d{5}\b", ":PORT", text) + "\n"


@needs_gdb
@pytest.mark.parametrize("name", SCRIPTS)
def test_gdb_prints_what_is_expected(name, tmp_path):
    found = printed(name, tmp_path)
    version = subprocess.run([GDB, "--version"], capture_output=True, text=True, check=True).stdout
    if VERSION not in version.splitlines()[0]:
        pytest.skip(f"the expected texts are those of gdb {VERSION}")
    assert found == (RUNS / f"{name}.txt").read_text("utf-8")


def slow_load(debug: Session, seconds: float):
    """A function that gives the server a session after some seconds, as if imports were slow."""

    def load(link: Link) -> Target:
        time.sleep(seconds)
        return target_of(debug)(link)

    return load


@needs_gdb
@pytest.mark.parametrize("seconds", [5])
def test_a_handshake_may_take_its_time(tmp_path, seconds):
    elf, debug = program_of("stepped_O2", tmp_path)
    lines = gdb(elf, slow_load(debug, seconds), ["stepi", "print $pc"], tmp_path)
    assert lines[-2] == "$1 = (void (*)()) 0x100bc <_start+4>"
    assert "packet" not in " ".join(lines), "gdb has not complained"


def test_a_variable_of_c_is_left_to_gdb(tmp_path):
    _, debug = program_of("stepped_O0", tmp_path)
    with pytest.raises(ExpressionError) as caught:
        debug.read("total + 1")
    assert caught.value.hint == "variables of C are gdb's: macaw debug --gdb PORT (docs/gdb.md)"
    with pytest.raises(ExpressionError) as caught:
        of_source(VERY_LONG_LOOP).read("total")
    assert caught.value.hint == ""


@needs_gdb
def test_a_breakpoint_at_the_last_instruction_does_not_hang_gdb(tmp_path):
    elf, debug = program_of("stepped_O2", tmp_path)
    exit_call = "*0x100cc"
    commands = [
        f"break {exit_call}",
        "continue",
        "continue",
        "stepi",
        "stepi 2",
        "reverse-stepi",
        "reverse-stepi",
        "print $pc",
    ]
    lines = gdb(elf, debug, commands, tmp_path)
    assert sum(line.startswith("exit with code 20") for line in lines) == 3
    assert lines[-2] == "$1 = (void (*)()) 0x100c8 <_start+16>"


@needs_gdb
def test_ctrl_c_stops_an_endless_loop(tmp_path):
    """gdb's interrupt stops an endless loop: the fastest of three takes less than a second."""
    debug = of_source(VERY_LONG_LOOP)
    elf = tmp_path / "loop.elf"
    api.save(debug.program, elf)
    listener = server.listen(0)
    thread = threading.Thread(target=server.serve_port, args=(listener, target_of(debug)))
    thread.start()
    script = tmp_path / "commands.gdb"
    port = listener.getsockname()[1]
    commands = ["set confirm off", f"target remote :{port}", *["continue", "print $pc"] * 3, "kill"]
    script.write_text("\n".join(commands) + "\n")
    seconds, places = [], []
    with subprocess.Popen(
        [GDB, "-nx", "-batch", str(elf), "-x", str(script)], text=True, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
    ) as run:  # fmt: skip
        assert run.stdout is not None
        for _ in range(3):
            cycle = debug.device.cycle
            while debug.device.cycle == cycle:
                time.sleep(0.05)
            time.sleep(0.1)  # gdb ends the script if an interrupt comes before it waits for a stop
            begin = time.monotonic()
            run.send_signal(signal.SIGINT)
            for line in run.stdout:
                if line.startswith("$"):
                    break
                if line == "Program received signal SIGINT, Interrupt.\n":
                    seconds.append(time.monotonic() - begin)
            places.append(line)
        run.stdout.read()
    thread.join()
    listener.close()
    assert len(seconds) == 3
    assert all(re.match(r"\$\d = \(void \(\*\)\(\)\) 0x", line) for line in places), places
    assert min(seconds) < 1


@needs_gdb
def test_a_program_is_run_again_by_the_command_itself(tmp_path):
    """With `target extended-remote | macaw debug --gdb -`, gdb can run the program again."""
    shutil.copy(RUNS / "stepped_O0.elf", tmp_path / "p.elf")
    command = f"{sys.executable} -m macaw debug --gdb - p.elf"
    commands = [
        "break add",
        "continue",
        "run",
        "continue",
        "print x",
        "kill",
        "run",
        "print counter",
    ]
    lines = gdb("p.elf", command, commands, tmp_path)
    hits = [line for line in lines if line.startswith("Breakpoint 1, add")]
    assert len(hits) == 4, lines
    assert "$1 = 3" in lines
    assert "$2 = 0" in lines
    assert lines.count("[Inferior 1 (Remote target) killed]") == 2


# Random sessions


def random_session(seed: int, folder: Path) -> None:
    """gdb goes forward and back at random; the state that it prints at stops is the session's."""
    chance = random.Random(seed)
    name = chance.choice(["c_vector", "six_cores", "stepped_O0", "stepped_O2"])
    elf, debug = program_of(name, folder)
    code = [x for x in debug.program.sections if x.core in ("cp", "vc") and x.address < 1 << 31]
    sections = [x for x in debug.program.sections if len(x.data) >= 64]
    states: list[tuple[dict[str, dict[str, int]], bytes]] = []
    section = chance.choice(sections)
    address = section.address + 4 * chance.randrange((len(section.data) - 60) // 4)

    def note(line: str, _answer: object) -> None:
        if line == "echo state":
            states.append((final_bits(debug), debug.read_memory(address, 16)))

    commands = []
    for number in range(14):
        commands += [
            *random_move(chance, code),
            f"echo @{number}\\n",
            "print $mhartid",
            "info registers",
        ]
        commands += [f"x/16xb {address:#x}", "monitor echo state"]
    lines = gdb(elf, target_of(debug, on_answer=note), commands, folder)
    stops = [list(group) for group in split_at_marks(lines)]
    assert len(stops) == len(states) == 14, lines
    for seen, (bits, memory) in zip(stops, states, strict=True):
        text = "\n".join(seen)
        hart = int(re.search(r"^\$\d+ = (\d+)$", text, re.M)[1])  # type: ignore[index]
        shown = {x: int(y, 16) for x, y in re.findall(r"^(\w+) +(0x[0-9a-f]+)\t", text, re.M)}
        core = next(x.name for x in debug.device.order if x.number == hart)
        names = ["ra", "sp", "t0", "s1", "a0", "a5", "t6", "pc"]
        assert [shown[x] for x in names] == [bits[core][x] for x in names], (
            seed,
            text,
        )
        read = re.findall(r"^0x[0-9a-f]+.*:\t(.*)$", text, re.M)
        assert bytes(int(x, 16) for row in read[-2:] for x in row.split("\t")) == memory, (
            seed,
            text,
        )


def final_bits(debug: Session) -> dict[str, dict[str, int]]:
    """The bits of the general registers and pc of cp and vc."""
    found = {}
    for core in ("cp", "vc"):
        values = {x: y & 0xFFFFFFFF for x, y in debug.registers(core).items() if isinstance(y, int)}
        where = debug.last_stop.where
        ended = where.address if where is not None and where.core == core else None
        found[core] = {"pc": ended or 0, **values}
    return found


def random_move(chance: random.Random, code: list[Section]) -> list[str]:
    """Commands of gdb that move the program, change points or change a register."""
    section = chance.choice(code)
    place = section.address + 4 * chance.randrange(len(section.data) // 4)
    moves = [f"stepi {chance.randint(1, 30)}", f"reverse-stepi {chance.randint(1, 12)}", "nexti", "step",
             "next", "reverse-step", "reverse-next", "continue", "reverse-continue"]  # fmt: skip
    more = [f"break *{place:#x}", f"tbreak *{place:#x}", f"watch *(int *) {place:#x}", "delete",
            f"set $a5 = {chance.randint(0, 99)}", "monitor stepi 3"]  # fmt: skip
    first = [chance.choice(more)] if chance.random() < 0.6 else []
    flush = ["maintenance flush register-cache"] if first[:1] == ["monitor stepi 3"] else []
    return [*first, *flush, chance.choice(moves)]


def split_at_marks(lines: list[str]) -> Iterator[list[str]]:
    """Yield the lines from each mark (`@` and a number) up to the next mark."""
    marks = [at for at, line in enumerate(lines) if re.fullmatch(r"@\d+", line)]
    for begin, end in zip(marks, [*marks[1:], len(lines)], strict=True):
        yield lines[begin:end]


@needs_gdb
@pytest.mark.parametrize("seed", range(3))
def test_gdb_reads_what_the_session_says(seed, tmp_path):
    random_session(seed, tmp_path)


@needs_gdb
@pytest.mark.long
@pytest.mark.parametrize("seed", range(3, 200))
def test_gdb_reads_what_the_session_says_for_long(seed, tmp_path):
    random_session(seed, tmp_path)


if __name__ == "__main__":
    for name in sys.argv[1:] or SCRIPTS:
        with tempfile.TemporaryDirectory() as place:
            (RUNS / f"{name}.txt").write_text(printed(name, Path(place)), "utf-8")


@needs_gdb
def test_the_end_of_the_program_is_printed_once(tmp_path):
    debug = of_source(HELLO)
    elf = tmp_path / "hello.elf"
    api.save(debug.program, elf)
    lines = gdb(elf, debug, ["continue", "stepi 5", "reverse-stepi", "stepi 3"], tmp_path)
    assert sum(line.startswith("exit with code 3") for line in lines) == 2
    assert sum(line.startswith("No more reverse-execution history") for line in lines) > 2
