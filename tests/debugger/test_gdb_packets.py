"""The framing of gdb's packets, and the thread that acknowledges them."""

from __future__ import annotations

import socket
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.gdb import packets
from macaw.debugger.gdb.link import Link
from macaw.debugger.gdb.machine import Machine
from macaw.debugger.gdb.packets import (
    BAD,
    INTERRUPT,
    LONG,
    Decoder,
    Packet,
    escape,
    frame,
    unescape,
)
from macaw.debugger.gdb.server import SocketChannel
from macaw.debugger.gdb.target import Target
from macaw.debugging import DebuggerFiles
from tests.debugger.gdb_client import Client, Serving, target_of
from tests.debugger.programs import of_source, session
from tests.debugger.sources import VERY_LONG_LOOP


def test_a_packet_as_the_manual_of_gdb_shows_it():
    assert frame(b"m4015bc,2") == b"$m4015bc,2#5a"
    assert frame(b"#}$*") == b"$}\x03}]}\x04}\x0a#" + b"%02x" % (
        4 * 0x7D + 0x03 + 0x5D + 4 + 10 & 255
    )


@given(st.binary(max_size=300), st.integers(1, 40))
def test_data_come_back_in_any_pieces(data, size):
    assert unescape(escape(data)) == data
    sent, decoder = b"+" + frame(data) + b"\x03-" + frame(data), Decoder()
    items = [x for at in range(0, len(sent), size) for x in decoder.feed(sent[at : at + size])]
    assert items == ["+", Packet(data), INTERRUPT, "-", Packet(data)]


@given(st.binary(max_size=200))
def test_no_bytes_harm_the_decoder(data):
    decoder = Decoder()
    decoder.feed(data)
    assert decoder.feed(b"#00$?#3f")[-1] == Packet(b"?")


@pytest.mark.parametrize(
    ("sent", "item"),
    [
        (b"$?#3e", BAD), (b"$?#zz", BAD), (b"$?#+3", BAD), (b"$?$?#3f", Packet(b"?")), (b"$}#7d", Packet(b"")),
        (b"$" + b"a" * (packets.MOST_BYTES + 1) + b"#%02x" % (0x61 * (packets.MOST_BYTES + 1) & 255), LONG),
        (b"$" + b"a" * (3 * packets.MOST_BYTES) + b"#00", LONG),
    ],
)  # fmt: skip
def test_what_is_wrong_is_reported(sent, item):
    assert Decoder().feed(sent) == [item]


def test_the_checksum_has_two_digits_alone():
    assert Decoder().feed(b"$\x00#0_") == [BAD], "what Python takes for a number"
    assert Decoder().feed(b"$\x05# 5") == [BAD]


def test_packets_are_acknowledged_and_questions_answered_before_the_program_is_loaded():
    """Packets are acknowledged, and questions answered, before the program is loaded.

    gdb repeats a packet after two seconds without an acknowledgement.
    """
    may_load = threading.Event()

    def load(link: Link) -> Target:
        assert may_load.wait(30)
        return target_of(of_source(".core cp\n_start: ebreak\n"))(link)

    run = Serving(load)
    client = run.client
    begin = time.monotonic()
    assert "vContSupported+;swbreak+;hwbreak+" in client.ask("qSupported:swbreak+;vContSupported+")
    assert client.ask("vMustReplyEmpty") == ""
    client.send("?")
    client.connection.sendall(b"-")
    client.send("?")  # it repeats: no answer has come; the acknowledgement comes after the "-"
    assert time.monotonic() - begin < 20
    may_load.set()
    assert client.answer() == "T05thread:1;"
    assert client.ask("qC") == "QC1", "one question has one answer"
    client.connection.sendall(b"-")
    assert client.receive() == "QC1", "the last answer is sent again"
    client.connection.sendall(b"$qC#00")
    assert client.connection.recv(1) == b"-"
    assert client.ask("QStartNoAckMode") == "OK"
    client.acknowledges = False
    assert client.ask("qC") == "QC1"
    client.connection.close()
    assert run.end() == "gdb has closed the connection"


def test_packets_from_before_the_start_of_the_server_are_repetitions():
    """Copies of the first packet from before the server's start are ignored.

    gdb sends its first packet every two seconds until it is read.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    gdb = socket.create_connection(listener.getsockname())
    gdb.settimeout(30)
    gdb.sendall(3 * frame(b"qSupported"))
    link = Link(SocketChannel(listener.accept()[0]))
    link.start()
    assert link.receive() == b"qSupported"
    link.send(b"")
    gdb.sendall(frame(b"qSupported"))  # crosses the answer
    gdb.sendall(b"+" + frame(b"qSupported"))  # gdb has the answer: another question
    assert link.receive() == b"qSupported"
    link.send(b"OK")
    expected = b"$#00", b"$OK#9a"
    received = b""
    while expected[1] not in received or received.count(b"+") < 5:
        received += gdb.recv(100)
    assert [received.count(x) for x in (*expected, b"+")] == [1, 1, 5]
    gdb.close()
    listener.close()
    assert link.receive() is None


def test_a_packet_that_is_too_long_is_refused():
    run = Serving(target_of(of_source(".core cp\n_start: ebreak\n")))
    assert run.client.ask("m" + "0" * packets.MOST_BYTES) == "E.the packet is too long"
    assert run.client.ask("D") == "OK"
    assert run.end() == "gdb has detached"


def test_a_connection_that_is_lost_in_a_run_ends_it():
    run = Serving(target_of(of_source(VERY_LONG_LOOP)))
    run.client.send("c")
    run.client.connection.close()
    assert run.end() == "gdb has closed the connection"


def test_a_connection_that_is_reset_ends_in_a_sentence():
    listener = socket.create_server(("127.0.0.1", 0))
    other = socket.create_connection(listener.getsockname())
    link = Link(SocketChannel(listener.accept()[0]))
    link.start()
    other.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    other.close()
    assert link.receive() is None
    assert link.closed.startswith(("the connection to gdb has ended: ", "gdb has closed"))
    link.send(b"OK")
    listener.close()


class Failing:
    """A channel whose first read fails, and which has a packet for the second."""

    def __init__(self) -> None:
        self.reads: list[OSError | bytes] = [OSError("reset"), frame(b"?"), b""]

    def read(self, count: int) -> bytes:
        result = self.reads.pop(0)
        if isinstance(result, OSError):
            raise result
        return result

    def write(self, data: bytes) -> None:
        pass


def test_after_an_error_nothing_more_is_read() -> None:
    link = Link(Failing())
    link.start()
    assert link.receive() is None
    assert link.closed == "the connection to gdb has ended: reset"


def test_an_interrupt_stops_a_run_and_none_that_comes_late():
    run = Serving(target_of(of_source(VERY_LONG_LOOP)))
    client: Client = run.client
    client.interrupt()  # nothing runs
    assert client.ask("vCont;s:1") == "T05thread:1;"
    client.send("vCont;c")
    time.sleep(0.3)
    begin = time.monotonic()
    client.interrupt()
    assert client.answer() == "T02thread:1;"
    assert time.monotonic() - begin < 5, "under a second where nothing else runs"
    client.send("vCont;r0,ffffffff:1")
    client.interrupt()  # at once
    assert client.answer() == "T02thread:1;"
    assert client.ask("s") == "T05thread:1;"
    assert client.ask("D") == "OK"
    run.end()


def test_programs_of_the_tree_are_served():
    run = Serving(target_of(session("hello")))
    assert run.client.ask("c") == "T05thread:1;replaylog:end;"
    assert run.client.printed.startswith(
        b"Hello from the command processor.\nexit with code 0 at cycle"
    )
    run.client.send("k")
    assert run.end() == "gdb has killed the program"


def test_the_thread_of_a_stop_is_that_of_its_core():
    """The thread of a stop is that of its core, although a core with a lower number runs, too."""
    debug = session("vector_dot")
    place = next(x.address for x in debug.program.sections if x.core == "vc")
    machine = Machine(debug)
    assert machine.stopped_thread() == debug.device.cores["cp"].number + 1
    interpreter = Interpreter(debug, DebuggerFiles())
    interpreter.execute(f"break *{place}")
    interpreter.execute("continue")
    where = debug.last_stop.where
    assert where is not None
    assert where.core == "vc"
    assert machine.threads() == [1, 3]
    assert machine.stopped_thread() == 3
