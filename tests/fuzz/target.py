"""What a fuzzing target is, and what may come of an example: success, or one clear sentence."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from types import FrameType
from typing import Generic, TypeVar

T = TypeVar("T", str, bytes)

SECONDS = 2.0  # of processor time, for one example
BYTES_A_SECOND = 100_000  # a long example has more time
LONGEST = 400  # characters of a message
# What Python says of a mistake of ours, not of the user's.
_INTERNAL = re.compile(
    r"Traceback|object at 0x|NoneType|<class |<built-in|<function|unpack|positional argument"
    r"|index out of range$|invalid literal|Error\(|not subscriptable|has no attribute"
)


@dataclass(frozen=True)
class Example(Generic[T]):
    """One input. `origin` is what it was made from, `thorough` asks for the expensive checks too.

    `folder` is where the files that a source names are read.
    """

    data: T
    origin: T
    thorough: bool = False
    folder: Path | None = None


@dataclass(frozen=True)
class Target(Generic[T]):
    """Makes examples, and checks what comes of one.

    `check` returns a word for what came of it (`accepted`, `refused`, ...) and
    raises anything else for what must not happen.
    """

    name: str
    make: Callable[[Random], Example[T]]
    check: Callable[[Example[T]], str]
    memory: int = 3 << 30  # bytes of address space of a long session: more is a MemoryError
    seconds: float = 0.0  # of processor time, for one example; 0: SECONDS


class Failure(AssertionError):
    """An example did what none may: which rule it broke, and how."""

    def __init__(self, rule: str, detail: str = "") -> None:
        super().__init__(f"{rule}: {detail}" if detail else rule)
        self.rule = rule


class _Alarm(BaseException):
    """Time is over. Nothing under test catches it."""


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Stop the block after so much processor time. Raises `Failure`.

    Only the main thread can; elsewhere the block runs unwatched.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(_number: int, _frame: FrameType | None) -> None:
        raise _Alarm

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)  # again: a destructor may swallow one
    try:
        yield
    except _Alarm:
        raise Failure("too slow", f"more than {seconds} s of processor time") from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def attempt(target: Target[T], example: Example[T], patience: float = 1.0) -> str:
    """What came of an example. Raises whatever must not happen.

    `patience` multiplies the time that the example has: on a busy or slow machine only what
    never ends is too slow.
    """
    size = len(example.data) if isinstance(example.data, str | bytes) else 0
    with bounded(patience * ((target.seconds or SECONDS) + size / BYTES_A_SECOND)):
        return target.check(example)


def require(condition: bool, rule: str, detail: str = "") -> None:
    """Raise `Failure` unless the condition holds."""
    if not condition:
        raise Failure(rule, detail)


def sentence(text: str) -> None:
    """Raise `Failure` unless a message is fit for a person: one line, printable, not endless."""
    require(bool(text.strip()), "a message is empty")
    require(text.isprintable(), "a message cannot be printed", repr(text[:LONGEST]))
    require(len(text) <= LONGEST, "a message is too long", f"{len(text)}: {text[:80]!r}...")
    require(_INTERNAL.search(text) is None, "a message is about Python", repr(text))
