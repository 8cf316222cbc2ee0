"""Writes outcomes of golden tests as JUnit XML, which CI services read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree

from macaw.golden_tests import Outcome

# Characters that XML 1.0 cannot contain.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(outcomes: Sequence[Outcome]) -> bytes:
    """Return the outcomes as a JUnit file: one suite `macaw test` with a case for each folder.

    The `classname` of a case is the folder's parent, and the `name` is the folder's name. A test
    that differs has an element `failure`, a test that cannot be run an element `error`. The text of
    this element has the lines of the outcome, and the element's message is the first line. A
    character that XML cannot contain is written as its code, such as `#x1B`.
    """
    failures = sum(outcome.status == "differs" for outcome in outcomes)
    errors = sum(outcome.status == "wrong" for outcome in outcomes)
    totals = {
        "name": "macaw test",
        "tests": str(len(outcomes)),
        "failures": str(failures),
        "errors": str(errors),
        "skipped": "0",
        "time": f"{sum(outcome.seconds for outcome in outcomes):.3f}",
    }
    root = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(root, "testsuite", totals)
    for outcome in outcomes:
        folder = outcome.folder
        names = {"classname": _text(folder.parent.as_posix()), "name": _text(folder.name or ".")}
        case = ElementTree.SubElement(
            suite, "testcase", {**names, "time": f"{outcome.seconds:.3f}"}
        )
        lines = _text("\n".join(outcome.lines))
        if outcome.failed:
            kind = "failure" if outcome.status == "differs" else "error"
            message = lines.partition("\n")[0]
            ElementTree.SubElement(case, kind, {"message": message}).text = lines
        elif lines:
            ElementTree.SubElement(case, "system-out").text = lines
    ElementTree.indent(root)
    text: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _text(text: str) -> str:
    return _FORBIDDEN.sub(lambda match: f"#x{ord(match[0]):02X}", text)
