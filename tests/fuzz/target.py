"""Fuzzing targets, and the allowed outcomes of an example: success, or one clear sentence."""

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
# Texts of Python's own errors, which show a mistake of Macaw, not of the user.
_INTERNAL = re.compile(
    r"Traceback|object at 0x|NoneType|<class |<built-in|<function|unpack|positional argument"
    r"|index out of range$|invalid literal|Error\(|not subscriptable|has no attribute"
)


@dataclass(frozen=True)
class Example(Generic[T]):
    """One input, made by damage to `origin`. If `thorough`, `check` makes expensive checks, too.

    The files that a source names are read in `folder`.
    """

    data: T
    origin: T
    thorough: bool = False
    folder: Path | None = None


@dataclass(frozen=True)
class Target(Generic[T]):
    """Makes examples and checks the outcome of each.

    `check` returns a word for the outcome (`accepted`, `refused`, ...) and raises an exception for
    an outcome that is not allowed.
    """

    name: str
    make: Callable[[Random], Example[T]]
    check: Callable[[Example[T]], str]
    memory: int = 3 << 30  # bytes of address space of a long session: more is a MemoryError
    seconds: float = 0.0  # of processor time, for one example; 0: SECONDS


class Failure(AssertionError):
    """An outcome that is not allowed: the rule that it breaks, and details."""

    def __init__(self, rule: str, detail: str = "") -> None:
        super().__init__(f"{rule}: {detail}" if detail else rule)
        self.rule = rule


class _Alarm(BaseException):
    """The time limit was exceeded; no code under test catches this exception."""


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Limit the `with` block to `seconds` of processor time, then raise `Failure`.

    This works in the main thread only; in other threads the block has no limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def over(_number: int, _frame: FrameType | None) -> None:
        raise _Alarm

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)  # again, as a destructor may swallow one
    try:
        yield
    except _Alarm:
        raise Failure("too slow", f"more than {seconds} s of processor time") from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def attempt(target: Target[T], example: Example[T], patience: float = 1.0) -> str:
    """Return the outcome of an example, or raise its exception if the outcome is not allowed.

    `patience` multiplies the time limit, so that on a slow or busy machine only examples that never
    end exceed it.
    """
    size = len(example.data) if isinstance(example.data, str | bytes) else 0
    with bounded(patience * ((target.seconds or SECONDS) + size / BYTES_A_SECOND)):
        return target.check(example)


def require(condition: bool, rule: str, detail: str = "") -> None:
    """Raise `Failure` unless the condition holds."""
    if not condition:
        raise Failure(rule, detail)


def sentence(text: str, given: str = "") -> None:
    """Raise `Failure` unless a message is fit for a person: one printable line, not too long.

    The message may quote the input `given`, whatever it contains.
    """
    require(bool(text.strip()), "a message is empty")
    require(text.isprintable(), "a message cannot be printed", repr(text[:LONGEST]))
    require(len(text) <= LONGEST, "a message is too long", f"{len(text)}: {text[:80]!r}...")
    internal = [found[0] for found in _INTERNAL.finditer(text) if found[0] not in given]
    require(not internal, "a message is about Python", repr(text))
