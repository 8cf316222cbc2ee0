"""A wrong argument of a public function raises `InputError` with the argument's name."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import macaw
from macaw.arguments import check_arguments, optional, whole
from macaw.errors import InputError
from macaw.isa.errors import MacawError

ROOMS = ("macaw",)
SOURCE = """
        .core cp
_start: li a7, 93
        li a0, 0
        ecall
        .input x, int8, 4
"""
MASKED = np.ma.masked_array([[1, 2]], mask=[[True, False]], dtype=np.int8)
EYE = np.eye(8, dtype=np.int8)

# Internal errors: public functions raise another error in place of each.
INTERNAL = {
    "macaw.isa.codec.DecodeError", "macaw.isa.codec.StructureError", "macaw.isa.fim_check.CheckError",
    "macaw.isa.fim_check.AbilityError", "macaw.isa.kinds.OperandError", "macaw.isa.reading.UnreadableError",
    "macaw.isa.kinds.ReservedBitError", "macaw.isa.nnp_chains.ChainError",
    "macaw.isa.rows.TableError",  # of whoever writes a table
    "macaw.asm.layout.LayoutError", "macaw.asm.floats.FloatError",
    "macaw.emu.origins.UnrecordedError", "macaw.emu.plain.PlainError",
    "macaw.lowering.fim.fused_task.CannotError", "macaw.lowering.fim.fused_task.MemoryExceededError",
    "macaw.profiling.model._TypeMismatchError",
    "macaw.pytest_plugin.GoldenDiffersError",  # pytest prints it
}  # fmt: skip


@pytest.fixture(scope="module")
def program() -> macaw.Program:
    return macaw.assemble(macaw.Source(SOURCE), device="tiny")


# What every parameter must refuse, beside its right neighbours. `ANY`: the function takes any value.
NOT_WORDS = (7, b"a", None)
NOT_PATHS = (7, b"a", None, ["a"])
NOT_FLAGS = ("yes", 1, None)
NOT_ARRAYS = (MASKED, "abc", object(), [[1, 2], [3]], np.array(["a"]))
NOT_DATA = (*NOT_ARRAYS, 7.5j, {1: EYE}, {"x": "a"})
NOT_DEVICES = (7, b"tiny", ["tiny"])
NOT_SEEDS = ("a", -1, 1.5, True)
NOT_MAPPINGS = (7, "a", [1], {1: 2})

TABLE: dict[str, tuple[tuple[Any, ...], dict[str, Any], dict[str, tuple[Any, ...]]]] = {
    # function: right positional arguments, right named ones, wrong values by parameter
    "annotate": (("x.s",), {}, {
        "program": NOT_PATHS, "inputs": NOT_MAPPINGS, "device": NOT_DEVICES, "item": ("a", -1, 1.5, True),
        "jitter": NOT_SEEDS, "max_cycles": ("a", 0, 1.5, True), "name": NOT_WORDS, "keyword_inputs": (),
    }),
    "assemble": ((), {}, {
        "sources": (7, None, b"a", macaw.Source(7), macaw.Source("", 7), macaw.Source("", "x", 7)),  # type: ignore[arg-type]
        "device": NOT_DEVICES, "defines": (*NOT_MAPPINGS, {"a": 1.5}), "include_dirs": (7, "abc", [7]),
        "record": (7, "a"), "gnu": NOT_FLAGS,
    }),
    "assemble_object": ((), {}, {
        "sources": (7, None, b"a", macaw.Source(7)),  # type: ignore[arg-type]
        "device": NOT_DEVICES, "defines": (*NOT_MAPPINGS, {"a": 1.5}), "include_dirs": (7, "abc", [7]),
        "record": (7, "a"), "gnu": NOT_FLAGS,
    }),
    "c_header": ((), {}, {"item": ("x.o", 7), "device": NOT_DEVICES}),
    "compile": (("x.onnx",), {}, {
        "model": (7, None, b"a", ["a"]), "device": NOT_DEVICES,
        "dims": (*NOT_MAPPINGS, {"n": 0}, {"n": "a"}), "name": (7, b"a"), "core": (7, b"a"),
        "batch": ("a", 0, 1.5, True), "data": NOT_DATA,
        "constants": (*NOT_MAPPINGS, {"a": "b"}), "islands": (7, "abc", [7]),
        "jobs": ("a", 0, 1.5, True),
    }),
    "concord": (("x.s",), {}, {
        "program": NOT_PATHS, "target": NOT_WORDS, "device": NOT_DEVICES,
        "entries": (7, "ab", [7], [("a", "b")], [("a", 0)]), "name": NOT_WORDS,
    }),
    "configuration": ((), {}, {"device": (*NOT_DEVICES, None)}),
    "debug": (("x.s",), {}, {
        "program": NOT_PATHS, "inputs": NOT_MAPPINGS, "device": NOT_DEVICES, "engine": NOT_WORDS,
        "item": ("a", -1, 1.5, True), "keyword_inputs": (),
    }),
    "disassemble": (("x.elf",), {}, {"program": NOT_PATHS, "core": (7, b"a"), "section": (7, b"a"), "raw": NOT_FLAGS}),
    "estimate": (("x.onnx",), {}, {
        "model": (7, None, b"a", ["a"]), "device": NOT_DEVICES,
        "dims": (*NOT_MAPPINGS, {"n": 0}, {"n": "a"}), "name": (7, b"a"),
        "batch": ("a", 0, 1.5, True), "data": NOT_DATA, "islands": (7, "abc", [7]),
    }),
    "from_native_tiles": ((EYE[None], (8, 8)), {}, {
        "array": NOT_ARRAYS, "shape": (7, (8,), (8, 0), ("a", "b"), None),
    }),
    "from_native_vectors": ((EYE, (8, 8)), {}, {
        "array": NOT_ARRAYS, "shape": (7, (8,), (8, 0), ("a", "b"), None),
    }),
    "linker_script": ((None,), {}, {"item": ("x.o", 7, None)}),
    "load": (("x.s",), {}, {"path": NOT_PATHS, "more": NOT_PATHS, "device": NOT_DEVICES}),
    "load_network": (("x",), {}, {"folder": NOT_PATHS}),
    "lower": (("spmm", EYE), {"rows": 2}, {
        "operation": NOT_WORDS, "weights": NOT_ARRAYS, "rows": ("a", 0, -1, 1.5, True, (1, 2)),
        "image": (7, "8x8", (8,), (8, 0), (8.0, 8), (1, 2, 3)), "stride": ("same", 0, (1, 2, 3), None),
        "padding": ("same", (0, 1, 1, 0), -1, 1.5, None), "pads": (1, (1, 1), "1,1,1,1", (1, 1, 1, -1)),
        "dilation": ("a", 0, (1, 2, 3), None), "groups": (0, "a", 1.5, None), "batch": (0, "a", 1.5),
        "layout": NOT_WORDS, "out_layout": NOT_WORDS,
        "bias": (MASKED, "abc", object()), "activation": NOT_WORDS, "shift": ("a", -1, 1.5),
        "device": NOT_DEVICES, "mapping": (7, b"a"), "split": (7, b"a"), "density": ("a", None, True),
        "name": (7, b"a", "a/b", "../a", "/a", "a\0"),
    }),
    "lower_graph": (("x.onnx",), {}, {
        "graph": (7, None, b"a", ["a"]), "device": NOT_DEVICES, "number_format": (7, b"a"),
        "dims": (*NOT_MAPPINGS, {"n": 0}, {"n": "a"}), "together": NOT_FLAGS, "dynamic": NOT_FLAGS,
        "resident": ("a", None, True),
        "name": (7, b"a", "a/b"),
    }),
    "native_tiles": ((EYE, 4), {}, {"matrix": NOT_ARRAYS, "native": ("a", 0, -1, 1.5, True, 1025, 1 << 70)}),
    "native_vectors": ((EYE, 4), {}, {"array": NOT_ARRAYS, "native": ("a", 0, -1, 1.5, True, 1025, 1 << 70)}),
    "profile": (("x.s",), {}, {
        "program": NOT_PATHS, "inputs": NOT_MAPPINGS, "options": (7, "auto", {}), "device": NOT_DEVICES,
        "watch": (7, "a", None), "name": NOT_WORDS, "keyword_inputs": (),
    }),
    "profile_schema": ((), {}, {}),
    "profile_tables": ((None,), {}, {"profile": (7, "x.json", None)}),
    "protect": ((EYE,), {}, {
        "weights": NOT_ARRAYS, "scope": NOT_WORDS, "lanes": ("a", 0, -1, 1.5), "seed": NOT_SEEDS,
    }),
    "quantise": (("m.onnx", EYE), {}, {
        "model": (7, None, b"a", ["a"]), "data": NOT_DATA, "method": NOT_WORDS,
        "scales": NOT_WORDS, "per_channel": NOT_FLAGS, "element_type": NOT_WORDS,
        "layers": (*NOT_MAPPINGS, {"a": 7}), "keep_float": (7, "abc", [7]), "dims": (*NOT_MAPPINGS, {"n": 0}, {"n": "a"}),
        "constants": (*NOT_MAPPINGS, {"a": "b"}),
    }),
    "round_bfloat16": ((EYE,), {}, {"array": NOT_ARRAYS}),
    "run": (("x.s",), {}, {
        "program": NOT_PATHS, "inputs": NOT_MAPPINGS, "device": NOT_DEVICES,
        "max_cycles": ("a", -1, 1.5, True), "engine": NOT_WORDS, "jitter": NOT_SEEDS,
        "streams": (7, print), "on_start": (7, "a"), "keyword_inputs": (),
    }),
    "save": ((None, "x.elf"), {}, {
        "program": (7, "x.elf", None), "path": NOT_PATHS, "format": NOT_WORDS, "lines": NOT_FLAGS,
        "memory": (7, b"a"),
    }),
    "save_object": ((None, "x.o"), {}, {"item": ("x.o", 7, None), "path": NOT_PATHS, "lines": NOT_FLAGS}),
    "sweep": (("x.s",), {"settings": {"dma.width": [16]}}, {
        "sources": (7, None, b"a"), "settings": (*NOT_MAPPINGS, {"a": 7}, {"a": "bc"}), "inputs": (*NOT_MAPPINGS, {"a": 7}),
        "lower": NOT_MAPPINGS, "device": NOT_DEVICES, "zipped": NOT_FLAGS, "repeat": ("a", 0, 1.5, True),
        "jitter": NOT_SEEDS, "max_cycles": ("a", -1, 1.5, True), "jobs": ("a", 0, 1.5, True), "scheduler": (7, b"a"),
        "folder": (7, ["a"]), "watch": (7, "a"), "energy": (7, ["a"]), "metrics": (7, "a", [7]),
    }),
    "tiled": ((EYE,), {"layout": "rows", "side": "a"}, {
        "matrix": NOT_ARRAYS, "layout": NOT_WORDS, "side": NOT_WORDS, "number_format": (7, b"a"),
    }),
    "unprotect": ((EYE,), {"order": EYE}, {
        "weights": NOT_ARRAYS, "order": NOT_ARRAYS, "scope": NOT_WORDS,
        "shapes": (7, "ab", [7], ["ab"], [(1, -1)], [(1.5,)]),
    }),
    "untiled": ((EYE, (8, 8)), {"layout": "rows"}, {
        "columns": NOT_ARRAYS, "shape": (7, (8,), (8, 0), ("a", "b"), None), "layout": NOT_WORDS,
        "side": NOT_WORDS, "number_format": (7, b"a"),
    }),
}  # fmt: skip


def public_functions() -> dict[str, Callable[..., Any]]:
    named = ((name, getattr(macaw, name)) for name in macaw.__all__)
    return {name: each for name, each in named if inspect.isfunction(each)}


def test_the_table_has_every_parameter_of_every_public_function() -> None:
    functions = public_functions()
    assert TABLE.keys() == functions.keys()
    for name, function in functions.items():
        assert TABLE[name][2].keys() == inspect.signature(function).parameters.keys(), name


@pytest.mark.parametrize(
    ("name", "parameter"),
    [(name, parameter) for name, row in TABLE.items() for parameter in row[2]],
)
def test_a_wrong_value_is_refused_with_the_parameters_name(
    name: str, parameter: str, program: macaw.Program
) -> None:
    right, named, wrong = TABLE[name]
    function = getattr(macaw, name)
    kinds = inspect.signature(function).parameters
    for value in wrong[parameter]:
        positional, keywords = list(right), dict(named)
        if name == "save":
            positional[0] = program
        if name == "save_object" and parameter != "item":
            positional[0] = macaw.assemble_object(macaw.Source(""))
        place = list(kinds).index(parameter)
        kind = kinds[parameter].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            positional.append(value)
        elif kind is inspect.Parameter.KEYWORD_ONLY or place >= len(positional):
            keywords[parameter] = value
        else:
            positional[place] = value
        with pytest.raises(InputError) as caught:
            function(*positional, **keywords)
        said = caught.value.message
        assert said.startswith((f"{parameter} is ", f"{parameter}[")), said
        assert said.isprintable()
        assert len(said) < 200
        assert "\n" not in said


def test_the_findings_words(program: macaw.Program) -> None:
    with pytest.raises(
        InputError, match=r"^padding is a whole number from 0, or two .*, not \(0, 1, 1, 0\)$"
    ):
        macaw.lower("conv2d", np.ones((4, 3, 3, 4), np.int8), image=(8, 8), padding=(0, 1, 1, 0))  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^inputs is arrays by name, not \{1: 2\}$"):
        macaw.run(program, {1: 2})  # type: ignore[dict-item]
    with pytest.raises(InputError, match=r"^weights\[1\] is an array of numbers, not 'a'$"):
        macaw.protect(EYE, "a")
    with pytest.raises(InputError, match=r"^max_cycles is a whole number from 0, not -1$"):
        macaw.run(program, x=[1, 2, 3, 4], max_cycles=-1)


def test_an_input_that_is_given_twice_is_refused(program: macaw.Program) -> None:
    with pytest.raises(
        InputError, match=r"^input x is given twice, in the mapping and by its name$"
    ):
        macaw.run(program, {"x": [1, 2, 3, 4]}, x=[5, 6, 7, 8])


def test_a_mask_is_not_dropped(program: macaw.Program) -> None:
    masked = np.ma.masked_array([1, 2, 3, 4], mask=[False, False, False, True], dtype=np.int8)
    with pytest.raises(InputError, match=r"^input x is a masked array$"):
        macaw.run(program, x=masked)


@pytest.mark.parametrize("dtype", ["complex128", "<U1", "object"])
def test_an_array_of_no_numbers_is_refused_with_its_type(dtype: str) -> None:
    with pytest.raises(macaw.InputError) as error:
        macaw.lower("spmv", np.ones((2, 2)).astype(dtype))
    wanted = f"weights is an array of numbers, not a value of type ndarray with dtype {dtype}"
    assert str(error.value) == wanted


def test_numbers_of_numpy_are_numbers(program: macaw.Program) -> None:
    plain = macaw.lower(
        "conv2d", np.ones((4, 3, 3, 4), np.int8), image=(8, 8), padding=(1, 1), device="tiny"
    )
    numpy = macaw.lower(
        "conv2d", np.ones((4, 3, 3, 4), np.int8), image=(np.int64(8), np.int8(8)),  # type: ignore[arg-type]
        padding=np.int16(1), device="tiny",  # type: ignore[arg-type]
    )  # fmt: skip
    assert numpy.source == plain.source
    assert macaw.run(program, x=[1, 2, 3, 4], max_cycles=np.int64(10_000)).exit_code == 0  # type: ignore[arg-type]


def test_numbers_of_numpy_do_not_overflow(program: macaw.Program) -> None:
    """Numbers of NumPy are converted to Python's integers, which do not overflow."""
    x = [1, 2, 3, 4]
    noisy = [macaw.run(program, x=x, jitter=seed).cycles for seed in (3, np.int64(3))]  # type: ignore[arg-type]
    assert noisy[0] == noisy[1]
    assert macaw.run(program, x=x, max_cycles=np.uint16(65535)).exit_code == 0  # type: ignore[arg-type]
    source = macaw.Source(".core cp\n_start: .word N*N\n")
    plain, numpy = (macaw.assemble(source, defines={"N": size}) for size in (16, np.uint8(16)))  # type: ignore[dict-item]
    assert numpy.sections == plain.sections
    kept = macaw.protect(EYE, lanes=np.uint8(16))  # type: ignore[arg-type]
    shapes = [(np.uint8(8), np.uint8(8))]
    (back,) = macaw.unprotect(*kept.weights, order=kept.order, shapes=shapes)  # type: ignore[arg-type]
    assert np.array_equal(back, EYE)
    tiles = macaw.tiled(np.ones((16, 16), np.float16), layout="dot", side="a")
    size = np.uint8(16)
    assert macaw.untiled(tiles, (size, size), layout="dot", side="a").all()  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"^tiles of a 16 x 100000000000000000000 matrix"):
        macaw.untiled(tiles, (size, 10**20), layout="dot", side="a")  # type: ignore[arg-type]


def test_seeds_of_a_device_are_numbers_of_any_kind(program: macaw.Program) -> None:
    seeds: tuple[Any, ...] = (3, np.int8(3), np.uint64(3))
    cycles = []
    for seed in seeds:
        device = macaw.Device(macaw.configuration("tiny"), jitter=seed)
        device.load(program)
        cycles.append(device.run().cycle)
    assert len(set(cycles)) == 1


def test_arrays_are_sequences(tmp_path: Path) -> None:
    """A list of values may be an array, but not an array without axes."""
    (tmp_path / "a.s").write_text(".core cp\n_start: li a7, 93\n li a0, 0\n ecall\n")
    values: tuple[Any, ...] = (np.array([16, 32]), np.array(16), np.array([]))
    swept = macaw.sweep(tmp_path / "a.s", settings={"dma.width": values[0]})
    assert swept.column("dma.width") == [16, 32]
    rows: tuple[tuple[str, Any], ...] = (
        ("trace.recording", np.array([False, True])),
        ("lower.preferred.spmv", np.array(["weight", "input"])),
    )
    for name, array in rows:
        swept = macaw.sweep(tmp_path / "a.s", settings={name: array})
        assert len(swept.measured) == 2
        assert [type(value) for value in swept.column(name)] == [type(array.tolist()[0])] * 2
    for wrong in values[1:]:
        with pytest.raises(InputError, match=r"^(settings is lists of values|dma.width has no)"):
            macaw.sweep(tmp_path / "a.s", settings={"dma.width": wrong})


@pytest.mark.parametrize("shape", [(8, 4), (5, 3)])
def test_a_matrix_from_tiles_is_no_view_of_them(shape: tuple[int, int]) -> None:
    matrix = np.arange(shape[0] * shape[1], dtype=np.float16).reshape(shape)
    for take, back in (
        (macaw.native_tiles, macaw.from_native_tiles),
        (macaw.native_vectors, macaw.from_native_vectors),
    ):
        parts = take(matrix, 4)
        result = back(parts, shape)
        assert np.array_equal(result, matrix)
        assert not np.shares_memory(result, parts)


def test_a_dilation_that_is_larger_than_memory_is_refused() -> None:
    with pytest.raises(InputError, match=r"^a kernel of 2000001 × 2000001 with its dilation is"):
        macaw.lower("conv2d", np.ones((2, 3, 3, 4), np.int8), image=(5, 5), dilation=10**6)
    with pytest.raises(
        InputError, match=r"^the kernels with their dilation have 80,000,800,002 numbers$"
    ):
        macaw.lower(
            "depthwise", np.ones((2, 3, 3), np.int8), image=(5, 5), padding=10**6, dilation=10**5
        )


@pytest.mark.parametrize("wrong", [7, None, "w", np.zeros(3)])
def test_a_configuration_and_a_device_refuse_other_types(
    program: macaw.Program, wrong: Any
) -> None:
    with pytest.raises(macaw.ConfigError, match="changed by the values of fields by name"):
        macaw.configuration("tiny").changed(wrong)
    device = macaw.Device(macaw.configuration("tiny"))
    device.load(program)
    with pytest.raises(
        MacawError, match=r"^(the name of a tensor is a string|no tensor is called)"
    ):
        device.read_tensor(wrong)


def test_a_value_that_cannot_be_printed_is_refused_too(program: macaw.Program) -> None:
    message = r"^max_cycles is a whole number from 0, not a value of type int$"
    with pytest.raises(InputError, match=message):
        macaw.run(program, max_cycles=-(10**5000))
    with pytest.raises(InputError, match=r"^include_dirs is a list of folders, not \['\\x00'\]$"):
        macaw.assemble(macaw.Source(SOURCE), include_dirs=["\0"])


def test_results_check_their_methods_arguments(tmp_path: Path) -> None:
    lowered = macaw.lower("spmv", EYE, device="tiny")
    for call in (
        lambda: lowered.write(7),  # type: ignore[arg-type]
        lambda: lowered.measure("a"),
        lambda: lowered.measure(seed=-1),
        lambda: macaw.protect(EYE, seed=1).write("weights.npy", tmp_path / "orders.npy"),
    ):
        with pytest.raises(InputError, match=r"^(path|x|seed|paths) is "):
            call()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        # Arguments of wrong types on purpose: mypy must ignore what the classes have to refuse.
        (lambda: macaw.Configuration(7, {}), "name: 7 is not a word"),  # type: ignore[arg-type]
        (lambda: macaw.Configuration("x", 7), "made of a name and the values"),  # type: ignore[arg-type]
        (lambda: macaw.Configuration("x", {1: 2}), "made of a name and the values"),  # type: ignore[dict-item]
        (lambda: macaw.Device("tiny"), "a device is made of a Configuration"),  # type: ignore[arg-type]
        (lambda: macaw.Device(None), "a device is made of a Configuration"),  # type: ignore[arg-type]
        (lambda: macaw.Device(macaw.configuration("tiny"), jitter="a"), "a whole number from 0, not 'a'"),  # type: ignore[arg-type]
        (lambda: macaw.Device(macaw.configuration("tiny"), engine=7), "no engine is called '7'"),  # type: ignore[arg-type]
        (lambda: macaw.Device(macaw.configuration("tiny")).run(max_cycles=-1), "from 0, not -1"),
        (lambda: macaw.Device(macaw.configuration("tiny")).run(max_cycles="a"), "from 0, not 'a'"),  # type: ignore[arg-type]
        (lambda: macaw.Device(macaw.configuration("tiny")).step_core("cp", -1), "from 0, not -1"),
        (lambda: macaw.Device(macaw.configuration("tiny")).load("x"), "loads a Program, not a value of type str"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_classes_check_what_they_are_made_of(make: Callable[[], object], message: str) -> None:
    with pytest.raises(MacawError, match=message):
        make()


def test_one_class_catches_every_error_of_a_user() -> None:
    found = {}
    for room in ROOMS:
        package = importlib.import_module(room)
        for info in pkgutil.walk_packages(package.__path__, f"{room}."):
            if info.name.endswith("__main__"):
                continue
            module = importlib.import_module(info.name)
            for name, each in vars(module).items():
                own = inspect.isclass(each) and each.__module__ == info.name
                if own and issubclass(each, Exception) and name.endswith("Error"):
                    found[f"{info.name}.{name}"] = each
    # The debugger answers its own in its own words: a session is no public function.
    others = {
        name
        for name, each in found.items()
        if not issubclass(each, MacawError) and not name.startswith("macaw.debugger.")
    }
    assert others == INTERNAL
    assert macaw.MacawError is MacawError
    exported = [getattr(macaw, name) for name in macaw.__all__ if name.endswith("Error")]
    assert all(issubclass(each, macaw.MacawError) for each in exported)


@pytest.mark.parametrize(
    "fails",
    [
        lambda folder: macaw.assemble(macaw.Source("nonsense a, b")),
        lambda folder: macaw.configuration("no-such-device"),
        lambda folder: macaw.load(folder / "cut.elf"),
        lambda folder: macaw.disassemble(macaw.assemble(macaw.Source(SOURCE)), core="nnp"),
        lambda folder: macaw.Device(macaw.configuration("tiny")).read_tensor("y"),
        lambda folder: macaw.Device(macaw.configuration("tiny"), engine="none"),
        lambda folder: macaw.assemble("no-such-file.s"),
    ],
)  # fmt: skip
def test_errors_of_each_room_are_caught(fails: Callable[[Path], object], tmp_path: Path) -> None:
    (tmp_path / "cut.elf").write_bytes(b"\x7fELF\1\1\1")
    with pytest.raises(macaw.MacawError) as caught:
        fails(tmp_path)
    assert caught.value.message == str(caught.value)
    assert isinstance(caught.value.hint, str)


def test_every_parameter_has_a_kind() -> None:
    with pytest.raises(TypeError, match="kinds and parameters differ"):

        @check_arguments(a=whole(1))
        def _one(a: int, b: int) -> None: ...

    @check_arguments(a=optional(whole(1)))
    def two(a: int | None = None) -> int | None:
        """Text."""
        return a

    assert two() is None
    assert two(3) == 3
    assert (two.__name__, two.__doc__) == ("two", "Text.")
    with pytest.raises(TypeError, match="unexpected keyword"):
        two(b=1)  # type: ignore[call-arg]


def test_a_missing_argument_is_python_s_error() -> None:
    """A missing argument raises Python's TypeError, as docs/cli.md says."""
    with pytest.raises(TypeError, match="missing a required argument: 'path'"):
        macaw.save(None)  # type: ignore[call-arg, arg-type]  # the mistake is the test
