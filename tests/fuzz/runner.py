"""Runs many examples of a target, counts their outcomes, and reduces examples that fail."""

from __future__ import annotations

import math
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Generic, TypeVar

from tests.fuzz.target import Example, Failure, Target, attempt

T = TypeVar("T", str, bytes)
ROOT = Path(__file__).parents[2]
SMALLER_SECONDS = 10.0  # for making one failure small
REPORT_SECONDS = 30.0


@dataclass(frozen=True)
class Found(Generic[T]):
    """A failure: number of the example, place of the error, and the reduced example."""

    number: int
    signature: str
    text: str
    smallest: T


@dataclass
class Result(Generic[T]):
    """The result of a session."""

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    found: list[Found[T]] = field(default_factory=list)
    seconds: float = 0.0
    examples: int = 0


def example_of(target: Target[T], seed: int, number: int) -> Example[T]:
    """Example `number` of the session with this seed, the same in each run."""
    return target.make(Random(f"{target.name} {seed} {number}"))


def signature(error: BaseException) -> str:
    """The error's type and place, the same for all examples that fail in the same way."""
    if isinstance(error, Failure):
        return error.rule
    if isinstance(error, RecursionError):  # any line of the recursion may raise it
        return "RecursionError"
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename.startswith(str(ROOT)) and ".venv" not in frame.filename
    ]
    place = f"{Path(frames[-1].filename).relative_to(ROOT)}:{frames[-1].lineno}" if frames else "?"
    return f"{type(error).__name__} at {place}"


def failure_of(target: Target[T], example: Example[T]) -> BaseException | None:
    """The forbidden exception that an example raises, or None."""
    try:
        attempt(target, example)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return error
    return None


def run(
    target: Target[T],
    count: int,
    seed: int,
    *,
    first: int = 0,
    step: int = 1,
    seconds: float = math.inf,
    say: Callable[[str], object] = print,
) -> Result[T]:
    """Try examples `first`, `first + step`, ... below `count`; report progress with `say`.

    Stops after `seconds`, or at Ctrl-C, with the results so far.
    """
    result: Result[T] = Result()
    began = said = time.monotonic()
    for number in range(first, count, step):
        example = example_of(target, seed, number)
        try:
            outcome = attempt(target, example)
        except KeyboardInterrupt:
            break
        except BaseException as error:
            outcome = "FAILED"
            name = signature(error)
            result.failures[name] += 1
            if result.failures[name] == 1:
                trace = "".join(traceback.format_exception(error, limit=-6))
                smallest = smaller(target, example, name)
                result.found.append(Found(number, name, trace[-3000:], smallest))
                say(_described(target.name, seed, result.found[-1]))
        result.outcomes[outcome] += 1
        result.examples += 1
        now = time.monotonic()
        result.seconds = now - began
        if now - said > REPORT_SECONDS:
            said = now
            say(summary(target.name, result))
        if result.seconds > seconds:
            break
    return result


def summary(name: str, result: Result[T]) -> str:
    """One line: the number of examples, their rate, their outcomes."""
    rate = result.examples / max(result.seconds, 1e-9)
    parts = ", ".join(f"{word} {count:,}" for word, count in sorted(result.outcomes.items()))
    text = f"{name}: {result.examples:,} examples in {result.seconds:,.0f} s, {rate:,.0f} a second"
    return f"{text}: {parts}; {len(result.failures)} kinds of failures"


def _described(name: str, seed: int, found: Found[T]) -> str:
    shown = repr(found.smallest)
    again = f"python -m tests.fuzz --target {name} --seed {seed} --only {found.number}"
    return (
        f"\n*** {found.signature}\n{found.text}smallest ({len(found.smallest)}): {shown[:2000]}"
        f"\nagain: {again}\n"
    )


def smaller(
    target: Target[T], example: Example[T], wanted: str, seconds: float = SMALLER_SECONDS
) -> T:
    """Reduce an example: remove or restore as much as possible while it fails in the same way."""
    until = time.monotonic() + seconds
    example = replace(example, thorough=True)

    def fails(data: T) -> bool:
        error = failure_of(target, replace(example, data=data))
        return error is not None and signature(error) == wanted

    data = example.data
    if isinstance(data, str):
        for pieces in (data.splitlines(keepends=True), None):
            kept = _fewest(list(data) if pieces is None else pieces, "".join, fails, until)
            data = "".join(kept)
        return data
    if len(data) == len(example.origin):
        data = _restored(data, example.origin, fails, until)
    return data


def _fewest(
    pieces: Sequence[str],
    join: Callable[[Sequence[str]], str],
    fails: Callable[[str], bool],
    until: float,
) -> list[str]:
    """The pieces that are needed for the failure.

    Tries to leave out halves, then quarters, and so on.
    """
    kept = list(pieces)
    size = len(kept) // 2 or 1
    while True:
        at = 0
        while at < len(kept) and time.monotonic() < until:
            fewer = kept[:at] + kept[at + size :]
            if fails(join(fewer)):
                kept = fewer
            else:
                at += size
        if size == 1 or time.monotonic() >= until:
            return kept
        size = max(1, size // 2)


def _restored(data: bytes, origin: bytes, fails: Callable[[bytes], bool], until: float) -> bytes:
    """The bytes, after each byte that the failure does not need was restored."""
    kept = bytearray(data)
    for at, (new, old) in enumerate(zip(data, origin, strict=True)):
        if new != old and time.monotonic() < until:
            kept[at] = old
            if not fails(bytes(kept)):
                kept[at] = new
    return bytes(kept)


def print_now(text: str) -> None:
    """Print a line and flush the output."""
    print(text)
    sys.stdout.flush()
