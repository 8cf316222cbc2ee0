"""The parts of the documentation site: which page a reader finds where."""

from __future__ import annotations

from typing import NamedTuple


class Part(NamedTuple):
    """A part of the site: its title, a sentence for its reader, and its pages in order."""

    name: str
    title: str
    about: str
    pages: tuple[str, ...]  # paths in the staged tree, without `.md`


PARTS = (
    Part(
        "learn",
        "Learn",
        "Stories and guides, to be read from the first line to the last.",
        (
            "tutorial/README",
            "tutorial/01-first-layer",
            "tutorial/02-more-outputs",
            "tutorial/03-sparse-and-balanced",
            "tutorial/04-a-loop-over-rows",
            "tutorial/05-two-rows-at-once",
            "tutorial/06-a-vector-program",
            "tutorial/07-a-network-from-onnx",
            "tutorial/08-where-the-cycles-go",
            "tutorial/09-why-a-number-is-wrong",
            "tutorial/10-c-beside-it",
            "debugging-story",
            "nnp-guide",
            "fim-guide",
            "exercises",
            "notebook",
            "programs/digits_mlp/README",
            "programs/digits_cnn/README",
            "programs/digits_nnp/README",
            "programs/digits_fim/README",
            "programs/digits_protected/README",
            "programs/network/README",
            "programs/lowered/README",
            "glossary",
        ),
    ),
    Part(
        "do",
        "Do",
        "What you want to get done, with the commands for it.",
        (
            "networks",
            "lowering",
            "nnp-models",
            "concord",
            "scheduling-fim",
            "profile",
            "annotate",
            "energy",
            "sweeps",
            "debugger",
            "session",
            "vscode",
            "gdb",
            "dap",
            "editors",
            "golden-tests",
            "c",
            "protection",
        ),
    ),
    Part(
        "look-up",
        "Look up",
        "Every command, directive, instruction, setting and function.",
        (
            "cli",
            "options",
            "language",
            "isa/README",
            "debugger-commands",
            "format-pe",
            "compatibility",
            "api",
        ),
    ),
    Part(
        "understand",
        "Understand",
        "How the device computes and takes time, and what shows that it does.",
        (
            "timing-pe",
            "timing-vc",
            "timing-nnp",
            "timing-fim",
            "numbers-nnp",
            "memory",
            "witnesses",
            "seeds",
            "benchmarks",
            "fuzzing",
            "mutants",
            "findings",
        ),
    ),
    Part(
        "project",
        "Project",
        "The house, how to change it, and what has changed.",
        (
            "ARCHITECTURE",
            "CONTRIBUTING",
            "adding-a-core",
            "debugger-internals",
            "modules",
            "CHANGELOG",
        ),
    ),
)
