"""Output files are written completely or not at all; errors name input files that are unusable."""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from macaw import files
from macaw.cli import run_command
from macaw.errors import InputError
from tests.macaw.conftest import Macaw


def test_a_file_is_written(tmp_path: Path) -> None:
    files.write_bytes(tmp_path / "a", b"one")
    assert (tmp_path / "a").read_bytes() == b"one"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


@pytest.mark.parametrize("command", ["fmt", "test"])
def test_a_folder_that_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    command: str,
) -> None:
    """It was left out without a word."""
    (tmp_path / "closed").mkdir()
    (tmp_path / "a.s").write_text("nop\n", "utf-8")
    (tmp_path / "golden.toml").write_text('source = "a.s"\n', "utf-8")
    scan = os.scandir

    def refuse(path: str) -> Iterator[os.DirEntry[str]]:
        if Path(path).name == "closed":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert run_command([command, str(tmp_path)]) == 2
    assert f"cannot read {tmp_path / 'closed'}: Permission denied" in capsys.readouterr().err
    assert (tmp_path / "a.s").read_text("utf-8") == "nop\n"


def test_a_new_file_has_the_usual_permissions(tmp_path: Path) -> None:
    (tmp_path / "usual").write_bytes(b"")
    files.write_bytes(tmp_path / "a", b"")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_a_replaced_file_keeps_its_permissions(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_bytes(b"")
    target.chmod(0o640)
    files.write_bytes(target, b"new")
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_bytes(b"old")
    with pytest.raises(RuntimeError), files.replace_file(target) as stream:  # noqa: PT012
        stream.write(b"half")
        raise RuntimeError
    assert target.read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_full_disk_leaves_all_files_of_a_group(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(InputError, match="cannot write /dev/full"):
        files.write_all([("/dev/full", b"one"), (tmp_path / "a", b"new")])
    assert (tmp_path / "a").read_bytes() == b"old"
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_a_group_may_have_more_files_than_a_process_may_open(tmp_path: Path) -> None:
    import resource

    usual = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, usual[1]))
    try:
        files.write_all((tmp_path / str(number), b"new") for number in range(200))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, usual)
    assert len(list(tmp_path.iterdir())) == 200


def test_a_symbolic_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("real")
    files.write_bytes(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"new"


def test_links_in_a_circle(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(InputError, match=r"^cannot write .*a: Too many levels of symbolic links$"):
        files.write_bytes(tmp_path / "a", b"")


def test_what_is_no_plain_file_is_written_in_place() -> None:
    files.write_bytes(os.devnull, b"gone")
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize(
    ("path", "reason"),
    [("missing/a", "No such file or directory"), ("folder", "Is a directory")],
)
def test_a_place_that_cannot_be_written(tmp_path: Path, path: str, reason: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=f"cannot write .*{path}: {reason}"):
        files.write_bytes(tmp_path / path, b"")


def test_a_folder_that_a_slash_names(tmp_path: Path) -> None:
    """A path with a slash at its end names a folder, as for other tools."""
    with pytest.raises(InputError, match=r"^cannot write .*new/: Is a directory"):
        files.write_bytes(f"{tmp_path}/new/", b"")
    assert not list(tmp_path.iterdir())


def test_the_error_of_a_group_names_one_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError) as error:
        files.write_all([(tmp_path / "a", b"one"), (tmp_path / "folder", b"two")])
    assert str(error.value) == f"cannot write {tmp_path / 'folder'}: Is a directory"


def test_a_missing_input(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*a\.s: No such file or directory"):
        files.read_bytes(tmp_path / "a.s")


def test_a_name_with_a_zero_byte() -> None:
    with pytest.raises(InputError, match="cannot read"):
        files.read_bytes("a\0b")


@pytest.mark.parametrize("shape", [(), (3,), (2, 0, 3)])
def test_arrays_come_back(tmp_path: Path, shape: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape, dtype=int), dtype=np.int16).reshape(shape)
    files.write_array(tmp_path / "a.npy", array)
    back = files.read_array(tmp_path / "a.npy")
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_a_text_is_no_array(tmp_path: Path) -> None:
    (tmp_path / "a.npy").write_text("1 2 3")
    with pytest.raises(InputError, match=r"is no \.npy file") as caught:
        files.read_array(tmp_path / "a.npy")
    assert caught.value.hint == "write it with numpy.save"


def test_a_pickle_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match=r"is no \.npy file that can be read"):
        files.read_array(tmp_path / "a.npy")


def test_a_file_that_is_cut_off(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros(100))
    data = (tmp_path / "a.npy").read_bytes()
    for length in (7, 20, 100, len(data) - 1):
        (tmp_path / "a.npy").write_bytes(data[:length])
        with pytest.raises(InputError, match=r"is no \.npy file that can be read"):
            files.read_array(tmp_path / "a.npy")


def test_bytes_behind_the_array(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros(3))
    with (tmp_path / "a.npy").open("ab") as stream:
        stream.write(b"xy")
    with pytest.raises(InputError, match=r"a\.npy is no .* read: 2 bytes after the array"):
        files.read_array(tmp_path / "a.npy")


def test_a_header_that_promises_too_much(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.zeros(100, dtype=np.int8))
    data = (tmp_path / "a.npy").read_bytes().replace(b"(100,), }    ", b"(10000000000000,), }"[:20])
    (tmp_path / "a.npy").write_bytes(data.replace(b"(100,)", b"(1<<9)"))
    with pytest.raises(InputError, match=r"is no \.npy file that can be read"):
        files.read_array(tmp_path / "a.npy")


SOURCE = """
        .device tiny
        .output y, float16, 4, at=netout
        .core   nnp
        SetRowsCols(1, 1)
        v_rd    InitialVrf, 0
        v_wr    NetOutQ
        end_chain
"""


@pytest.mark.parametrize(
    "words",
    [
        ("asm", "p.s", "-o", "a", "--listing", "none/b"),
        ("asm", "p.s", "-c", "-o", "a", "--ld-script", "none/b"),
        ("concord", "p.s", "-o", "a", "--graph", "none/b.dot"),
        ("run", "two.s", "-o", "y=a", "-o", "z=none/b"),
    ],
    ids=lambda words: words[0],
)
def test_a_command_that_cannot_write_a_file_replaces_none(
    macaw: Macaw, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "p.s").write_text(SOURCE)
    two = " .core cp\n_start: li a0, 0\n li a7, 93\n ecall\n .output y, int8, 4\n .output z, int8, 4\n"
    (tmp_path / "two.s").write_text(two)
    (tmp_path / "a").write_text("old")
    done = macaw(*words)
    assert done.returncode == 2
    assert done.stderr.endswith(
        f"cannot write {words[-1].split('=')[-1]}: No such file or directory\n"
    )
    assert (tmp_path / "a").read_text() == "old"
