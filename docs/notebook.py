"""Run docs/notebook.ipynb with nbclient, and write its outputs into it.

    python docs/notebook.py

The tests run it again and compare. Values that differ from run to run are left out.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).with_suffix(".ipynb")
TIMEOUT = 120  # seconds of a cell


def executed(path: Path = NOTEBOOK) -> dict[str, Any]:
    """Return the notebook in a file with the outputs of a run now, in the file's folder."""
    import nbformat
    from nbclient import NotebookClient

    notebook: Any = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=TIMEOUT,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        record_timing=False,
    )
    client.execute()
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    return dict(notebook)


def outputs(notebook: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Return the outputs of each code cell as plain data."""
    return [
        [_plain(output) for output in cell["outputs"]]
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    ]


def _plain(value: Any) -> Any:
    """Return a value without the types of nbformat; texts that are lists of lines are joined."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        if value and all(isinstance(item, str) for item in value):
            return "".join(value)
        return [_plain(item) for item in value]
    return value


def main() -> None:
    """Run the notebook and write it."""
    import nbformat

    nbformat.write(nbformat.from_dict(executed()), NOTEBOOK)
    print(f"wrote docs/{NOTEBOOK.name}")


if __name__ == "__main__":
    main()
