"""The server for gdb, packet by packet: registers, memory, points, runs, documents, commands."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.debugger.gdb.target import STALE
from tests.debugger.gdb_client import Client, Serving, serving, target_of
from tests.debugger.programs import of_source, session
from tests.debugger.sources import CALLS, STORE_LOOP

FAULTY = ".core cp\n_start: li a0, 0x70000000\nlw a1, 0(a0)\nebreak\n"
COPY = """
        .core cp
_start: la   a0, job
        dma.copy zero, a0
        dma.wait zero
        li   a7, 93
        ecall
        .section .data.cp
        .balign 4
job:    .word there, here, 8, 1, 0, 0
        .data
here:   .word 7, 9
there:  .word 0, 0
"""


@pytest.fixture
def calls() -> Iterator[Serving]:
    with serving(of_source(CALLS)) as run:
        yield run


NAMES = ["?", "g", "G", "p", "P", "m", "M", "X", "Hg", "Hc", "T", "Z0,", "Z2,", "z1,", "vCont;", "vCont;s:",
         "vCont;r", "qXfer:features:read:target.xml:", "qXfer:threads:read::", "qThreadExtraInfo,", "qRcmd,",
         "c", "s", "bs", "q", "v", "H"]  # fmt: skip
PACKETS = st.tuples(st.sampled_from(NAMES), st.text("0123456789abcdef,:;=-_xTz}", max_size=20))


class Silent:
    """A link that sends nothing."""

    def send(self, data: bytes, is_answer: bool = True) -> None:
        assert data[:1] == b"O"
        assert not is_answer

    def connect_interrupts(self, call: object) -> None:
        pass


@given(st.lists(PACKETS, max_size=12))
@settings(max_examples=25, deadline=None)
def test_no_packet_harms_the_debugger(packets):
    debug = of_source(CALLS)
    target = target_of(debug)(Silent())  # type: ignore[arg-type]
    for head, rest in packets:
        answer = target.answer(f"{head}{rest}".encode())
        assert answer is not None
        assert b"error of the debugger" not in answer
        assert len(answer) <= 0x4000
    debug.restart_program()
    target.close()
    debug.points.clear()
    assert debug.cont().reason == "exit"


def test_an_error_of_the_debugger_is_an_answer(monkeypatch):
    debug = of_source(CALLS)
    target = target_of(debug)(Silent())  # type: ignore[arg-type]
    monkeypatch.setattr(debug, "cont", lambda: 1 / 0)
    monkeypatch.setattr(debug, "read_memory", lambda *_: 1 / 0)
    assert target.answer(b"c") == b"E.error of the debugger: ZeroDivisionError('division by zero')"
    assert target.answer(b"m10000,4") == b"E01"


def document(client: Client, kind: str, annex: str = "") -> ET.Element:
    text, offset = "", 0
    while True:
        piece = client.ask(f"qXfer:{kind}:read:{annex}:{offset:x},400")
        text, offset = text + piece[1:], offset + len(piece) - 1
        if piece[0] == "l":
            return ET.fromstring(text)


def test_registers_are_read_and_written_by_gdbs_numbers(calls):
    client = calls.client
    debug = of_source(CALLS)
    assert client.ask("vCont;s:1") == "T05thread:1;"
    debug.stepi()
    data = bytes.fromhex(client.ask("g"))
    wanted = [debug.read_register("cp", "x", n) for n in range(32)] + [debug.core.next_address]
    assert [int.from_bytes(data[at : at + 4], "little") for at in range(0, 132, 4)] == wanted
    assert client.register(2) == debug.read("sp")
    assert client.register(65 + 0xF14) == 0, "mhartid"
    assert client.register(65 + 0xC02) == 1, "instret"
    assert client.ask(f"p{65 + 4096:x}") == "x" * 32, "vector registers are of vc"
    assert client.ask("P8=78563412") == "OK"
    assert client.register(8) == 0x12345678
    assert client.say("print/x s0") == "s0 = 0x12345678\n"
    registers = bytearray(data)
    registers[4:8] = b"\x01\x02\x03\x04"
    assert client.ask(f"G{registers.hex()}") == "OK"
    assert (client.register(1), client.register(8)) == (0x04030201, wanted[8])
    assert client.ask("P20=00000100") == "OK"
    assert client.register(32) == 0x10000
    assert client.ask("P0=01000000") == "OK"
    assert client.register(0) == 0


@pytest.mark.parametrize(
    ("packet", "answer"),
    [
        ("pffff", "E.there is no register 65535"),
        ("p", "E.'' is no number"),
        ("P1=00", "E.ra has 4 bytes, not 1"),
        ("P1=0x000000", "E.the data are no hexadecimal digits"),
        (f"P{65 + 0xC00:x}=01000000", "E.cp: control and status registers cannot be set from outside"),
        ("m70000000,4", "E01"),
        ("m10000", "E01"),
        ("mzz,4", "E01"),
        ("M10000,4:00", "E.1 bytes were sent, 4 announced"),
        ("M70000000,1:00", "E.write of a byte at 0x70000000: the device has no memory there"),
        ("Z0,zz,4", "E.'zz' is no number"),
        ("Z2,70000000,4", "E.read of 4 bytes at 0x70000000: the device has no memory there"),
        ("Z9,10000,4", ""),
        ("Z0,10000", ""),
        ("Hg9", "E.there is no thread 9"),
        ("Hx1", ""),
        ("T9", "E01"),
        ("T1", "OK"),
        ("vCont;x", "E.there is no action 'x'"),
        ("vCont;s:zz", "E.'zz' is no number"),
        ("vCont;s:3", "E.vc: nothing runs there to be stepped"),
        ("c10000", "E.a run continues where the program is; set $pc first"),
        ("qXfer:features:read:other.xml:0,10", "E00"),
        ("qXfer:auxv:read::0,10", ""),
        ("qXfer:features:write:target.xml:0,10", ""),
        ("qThreadExtraInfo,9", "E01"),
        ("qRcmd,zz", "E01"),
        ("vUnknown", ""), ("qUnknown", ""), ("unknown", ""), ("vContinue", ""), ("", ""),
        ("qC", "QC1"), ("qAttached", "0"), ("vCont?", "vCont;c;C;s;S;r"),
        ("qThreadExtraInfo,1", b"command processor".hex()),
    ],
)  # fmt: skip
def test_packets_that_are_wrong_or_small_are_answered(calls, packet, answer):
    assert calls.client.ask(packet) == answer


def test_monitor_says_how_lines_that_follow_end(calls):
    client = calls.client
    assert client.say("if 1") == (
        "more lines follow, each after `monitor`; the last one is `monitor end`\n"
    )
    assert client.say("echo body\\n") == ""
    assert client.say("end") == "body\n"
    assert client.say("quit") == "kill or detach ends the session, quit leaves gdb\n"


def test_memory_is_read_to_its_end_and_written_as_an_edit(calls):
    client = calls.client
    assert client.ask("m10000,4") == "13053000"
    assert client.ask("mfffffe,8") == "0000", "local memory ends there"
    assert client.ask("M80001000,3:010203") == "OK"
    assert client.ask(b"X80001003,5:}\x03#$*") == "OK"
    assert client.ask("m80001000,8") == "010203" + b"}\x03#$*".hex()
    assert client.ask("X80001000,0:") == "OK"
    client.ask("vCont;s:1")
    client.ask("bs")
    assert client.ask("m80001000,3") == "010203"


def test_threads_are_the_cores_that_run(calls):
    with serving(session("vector_dot")) as run:
        client = run.client
        assert (client.ask("qfThreadInfo"), client.ask("qsThreadInfo")) == ("m1", "l")
        place = next(x.address for x in session("vector_dot").program.sections if x.core == "vc")
        assert client.ask(f"Z0,{place:x},4") == "OK"
        assert client.ask("vCont;c") == "T05thread:3;swbreak:;"
        assert client.ask("qfThreadInfo") == "m1,3"
        rows = document(client, "threads")
        assert [(x.get("id"), x.get("name")) for x in rows] == [("1", "cp"), ("3", "vc")]
        assert [x.text for x in rows][1] == "SIMD core"
        assert client.ask("Hg3") == "OK"
        assert client.register(32) == place
        for _ in range(6):
            assert client.ask("vCont;s:3;c").startswith("T05thread:3;")
        doing = bytes.fromhex(client.ask("qThreadExtraInfo,1")).decode()
        assert doing.startswith("command processor")
        assert bytes.fromhex(client.ask(f"p{65 + 4096 + 2:x}")), "vr2"
        assert client.ask("Hg1") == "OK"
        assert client.register(65 + 0xF14) == 0


def test_the_description_has_the_registers_of_the_tables(calls):
    root = document(calls.client, "features", "target.xml")
    assert root.findtext("architecture") == "riscv:rv32"
    names = {
        x.get("name"): [row.get("name") for row in x.iter("reg")] for x in root.iter("feature")
    }
    assert names["org.gnu.gdb.riscv.cpu"] == [
        *"zero ra sp gp tp t0 t1 t2 s0 s1 a0 a1 a2 a3 a4 a5 a6 a7".split(),
        *"s2 s3 s4 s5 s6 s7 s8 s9 s10 s11 t3 t4 t5 t6 pc".split(),
    ]
    assert {"cycle", "mhartid", "trace_mode"} <= set(names["org.gnu.gdb.riscv.csr"])
    assert names["org.macaw.xvc"] == [f"vr{n}" for n in range(16)]
    assert next(x.get("bitsize") for x in root.iter("reg") if x.get("name") == "vr0") == "128"
    areas = [(x.get("start"), x.get("length")) for x in document(calls.client, "memory-map")]
    assert areas[0] == ("0x0", hex(16 << 20))
    assert "0x80000000" in {start for start, _ in areas}


def test_breakpoints_stop_before_their_instruction_and_steps_go_both_ways(calls):
    client, symbols = calls.client, of_source(CALLS).program
    double, again = (symbols.symbol(x).value for x in ("double", "again"))
    assert client.ask(f"Z1,{double:x},4") == "OK"
    assert client.ask(f"Z1,{double:x},4") == "OK", "set once"
    assert client.ask("c") == "T05thread:1;hwbreak:;"
    assert client.register(32) == double
    assert client.ask("s") == "T05thread:1;"
    assert client.ask("bs") == "T05thread:1;hwbreak:;", "it is before that instruction again"
    assert client.register(32) == double
    assert client.ask("c") == "T05thread:1;hwbreak:;", "deep calls it, too"
    assert client.ask("bc") == "T05thread:1;hwbreak:;"
    assert client.ask("bc") == "T05thread:1;replaylog:begin;"
    assert client.ask(f"z1,{double:x},4") == "OK"
    assert client.ask(f"z1,{double:x},4") == "OK", "it is gone"
    assert client.ask(f"vCont;r10000,{double:x}:1") == "T05thread:1;"
    assert client.register(32) == double
    assert client.ask(f"Z0,{again:x},4") == "OK"
    assert client.ask("C05") == "T05thread:1;swbreak:;"
    assert client.ask("S05") == "T05thread:1;"
    assert client.ask("Hc-1") == "OK"
    client.ask(f"z0,{again:x},4")
    assert client.ask("vCont;c") == "T05thread:1;replaylog:end;"
    assert client.ask("vCont;c:1") == "T05thread:1;", "in a step over a breakpoint gdb would hang"
    assert client.register(32) == symbols.symbol("_start").value + client.register(32) - 0x10000
    assert client.ask("bs") == "T05thread:1;"


def test_a_watch_stops_before_the_access_forward_and_behind_it_backward():
    with serving(of_source(STORE_LOOP)) as run:
        client, program = run.client, of_source(STORE_LOOP).program
        cell, loop = program.symbol("data").value + 4, program.symbol("loop").value
        assert client.ask(f"Z2,{cell:x},4") == "OK"
        assert client.ask("c") == f"T05thread:1;watch:{cell:x};"
        assert (client.register(32), client.ask(f"m{cell:x},4")) == (loop + 8, "00000000")
        assert client.ask(f"z2,{cell:x},4") == "OK"
        assert client.ask("vCont;s:1") == "T05thread:1;"
        assert client.ask(f"m{cell:x},4") == "03000000"
        assert client.ask(f"Z2,{cell:x},4") == "OK"
        assert client.ask("c") == f"T05thread:1;watch:{cell:x};"
        assert client.ask("s") == f"T05thread:1;watch:{cell:x};", "gdb takes the watch away first"
        client.ask(f"z2,{cell:x},4")
        client.ask("s")
        assert client.ask(f"m{cell:x},4") == "06000000"
        client.ask(f"Z2,{cell:x},4")
        assert client.ask("c") == f"T05thread:1;watch:{cell:x};"
        assert client.ask("bc") == f"T05thread:1;watch:{cell:x};"
        assert (client.register(32), client.ask(f"m{cell:x},4")) == (loop + 12, "06000000")
        client.ask(f"z2,{cell:x},4")
        assert client.ask(f"Z4,{cell:x},2") == "OK"
        assert client.ask("c") == f"T05thread:1;awatch:{cell:x};"


def test_an_access_by_the_dma_is_told_in_words():
    with serving(of_source(COPY)) as run:
        client, program = run.client, of_source(COPY).program
        there, here = program.symbol("there").value, program.symbol("here").value
        assert client.ask(f"Z2,{there:x},4") == "OK"
        assert client.ask("c") == f"T05thread:1;watch:{there:x};"
        assert client.printed.decode() == f"dma has accessed {there:#x} at cycle 37\n".replace(
            "37", client.printed.decode().split()[-1]
        )
        assert client.ask(f"m{there:x},4") == "07000000", "the other core is not taken back"
        assert client.ask("bc") == "T05thread:1;replaylog:begin;"
        client.ask(f"z2,{there:x},4")
        assert client.ask(f"Z3,{here:x},4") == "OK"
        assert client.ask("c") == f"T05thread:1;rwatch:{here:x};"
        assert client.printed.startswith(b"dma has accessed ")


def test_ends_are_the_end_of_the_replay_log():
    with serving(of_source(FAULTY)) as run:
        assert run.client.ask("c") == "T05thread:1;replaylog:end;"
        assert b"out-of-range access: load of 4 bytes at 0x70000000" in run.client.printed
        assert run.client.register(32) == 0x10008 - 4
        assert run.client.ask("bs") == "T05thread:1;"
        assert run.client.register(32) == 0x10000


def test_commands_of_the_debugger_are_executed(calls):
    client = calls.client
    assert client.say("info cores").splitlines()[0].split()[:3] == ["core", "number", "done"]
    assert client.say("nothing").startswith("error: no command is called 'nothing'")
    assert "refused" in client.say("shell ls") or "allow-shell" in client.say("shell ls")
    said = client.say("stepi 3").splitlines()
    assert said[0].startswith("3 steps done at cycle")
    assert said[-1] == STALE.strip()
    assert client.say("break again").startswith("break 1: again")
    client.printed = b""
    assert client.ask("c") == "T05thread:1;", "a breakpoint that gdb does not know"
    assert client.printed.decode().splitlines()[1] == "  break 1: again by cp"
    with serving(of_source(CALLS), allow_shell=True) as run:
        assert run.client.say("python print(6 * 7)") == "42\n"


def test_a_program_is_run_again_and_killed(calls):
    client = calls.client
    first = client.register(32)
    assert client.ask("!") == "OK"
    client.ask("c")
    assert client.ask("vRun;") == "T05thread:1;"
    assert client.register(32) == first
    client.ask("vCont;s:1")
    assert client.ask("R00") == "T05thread:1;"
    assert client.register(32) == first
    assert client.ask("vKill;1") == "OK"
    assert client.ask("?") == "W00"
    assert client.ask("vRun;;") == "T05thread:1;"
    assert client.ask("?") == "T05thread:1;"


def test_kill_and_detach_end_the_server():
    for packet, left in (("vKill;1", "gdb has killed the program"), ("D;1", "gdb has detached")):
        with serving(of_source(CALLS)) as run:
            assert run.client.ask(packet) == "OK"
            assert run.end() == left


def test_commands_of_a_point_of_monitor_follow_a_run_of_gdb(calls):
    client = calls.client
    for line in ("break double", "commands", "print a0 + 1000", "continue", "end", "break deep"):
        client.say(line)
    debug = of_source(CALLS)
    debug.break_("double")
    debug.break_("deep")
    debug.cont()
    value = debug.read("a0") + 1000
    last = debug.cont()
    assert client.ask("vCont;c") == "T05thread:1;"
    assert client.register(32) == debug.core.next_address
    printed = client.printed.decode()
    assert f"a0 + 1000 = {value}\n" in printed
    assert printed.count(f"at cycle {last.cycle:,}") == 1


@pytest.mark.parametrize(("forward", "kept"), [("s", False), ("goto", True)])
def test_only_goto_goes_forward_with_a_change_of_gdb(calls, forward, kept):
    client = calls.client
    for _ in range(4):
        client.ask("vCont;s:1")
    place = client.register(32)
    assert client.ask("Pf=4d000000") == "OK"
    edited = client.say("info checkpoints all").split()
    cycle = int(edited[edited.index("edited") - 1])
    client.ask("bs")
    client.ask("bs")
    assert client.register(15) == 0
    if forward == "goto":
        client.say(f"goto {cycle + 1}")
    else:
        client.ask("vCont;s:1")
        client.ask("vCont;s:1")
        assert client.register(32) == place
    assert (client.register(15) == 0x4D) is kept
