"""Device configurations: presets, reading and writing TOML, and each error message."""

from __future__ import annotations

import pickle
import re
import tomllib
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from macaw.isa import config, registry, trace
from macaw.isa.config import COMMON, ConfigError, Configuration
from macaw.isa.model import Setting
from tests.fuzzing import fuzz


def refused(text, message):
    with pytest.raises(ConfigError) as error:
        config.parse(text)
    assert str(error.value) == message


# What there is


def test_presets():
    assert config.presets() == (
        "aim", "base", "bw_a10", "bw_s10", "bw_s5", "ddr4_dimm", "hbm2_pim", "large", "tiny",
    )  # fmt: skip
    sizes = {
        name: tuple(config.load(name)[f"pe.{field}"] for field in ("rows", "clusters", "pes"))
        for name in config.presets()
    }
    base = (4, 4, 16)
    assert sizes == {
        "tiny": (2, 2, 4),
        "base": base,
        "large": (16, 16, 16),
        "bw_s5": base,
        "bw_a10": base,
        "bw_s10": base,
        "aim": base,
        "ddr4_dimm": base,
        "hbm2_pim": base,
    }


def test_native_dimension_lanes_and_engines_of_the_presets():
    sizes = {
        name: tuple(config.load(name)[f"nnp.{field}"] for field in ("native", "lanes", "engines"))
        for name in config.presets()
    }
    assert sizes == {
        "tiny": (4, 2, 1),
        "base": (32, 8, 4),
        "large": (128, 32, 8),
        "bw_s5": (100, 10, 6),
        "bw_a10": (128, 16, 8),
        "bw_s10": (400, 40, 6),
        "aim": (32, 8, 4),
        "ddr4_dimm": (32, 8, 4),
        "hbm2_pim": (32, 8, 4),
    }
    assert config.load("bw_s10")["nnp.megahertz"] == 250


def test_base_is_all_defaults():
    assert config.load("base") == config.parse("", "base")


def test_words_and_truth_of_numpy_are_words_and_truth():
    base = config.load("base")
    words = base.changed({"lower.preferred.spmv": np.array(["weight"])[0]})
    assert type(words["lower.preferred.spmv"]) is str
    assert base.changed({"trace.recording": np.array([False])[0]})["trace.recording"] is False
    with pytest.raises(ConfigError, match=r"^lower\.preferred\.spmv: 'x' is not one of input,"):
        base.changed({"lower.preferred.spmv": np.str_("x")})


def test_numbers_of_numpy_are_numbers():
    """Values that a user takes from an array are the same settings as Python's numbers."""
    base = config.load("base")
    for field, setting in config.settings().items():
        if type(setting.default) in (int, float):
            changed = base.changed({field: np.array([base[field]])[0]})
            assert changed == base
            assert type(changed[field]) is type(base[field])
    with pytest.raises(ConfigError, match=r"nnp\.native: 2\.5 is not a whole number"):
        base.changed({"nnp.native": np.float64(2.5)})


def test_every_setting_of_every_core_is_there():
    found = dict(config.load("tiny"))
    for core in registry.cores():
        for setting in core.settings:
            assert setting.name in found
    assert found["mem.banks"] == 16
    assert len(found) == len(config.settings())


def test_tables_and_their_settings_are_in_the_order_of_their_declaration():
    declared = [*COMMON, *trace.SETTINGS]
    declared += [row for core in registry.all_descriptors() for row in core.settings]
    tables = list(dict.fromkeys(row.name.rpartition(".")[0] for row in declared))
    found = list(config.settings())
    assert list(dict.fromkeys(name.rpartition(".")[0] for name in found)) == tables
    for table in tables:
        rows = [row.name for row in declared if row.name.rpartition(".")[0] == table]
        first = found.index(rows[0])
        assert found[first : first + len(rows)] == rows


ONE_OF_EACH = {"fim.ranks": 1, "fim.bank_groups": 1, "fim.group_banks": 1}
# Settings whose limit is only for a device that is small in another way.
SMALL_BESIDE = {"nnp.native": {"nnp.matrix_rf": 1}, **dict.fromkeys(ONE_OF_EACH, ONE_OF_EACH)}


def test_every_default_and_limit_is_legal():
    for name, setting in config.settings().items():
        for value in (setting.default, setting.low, setting.high):
            if value is not None:
                changed = {**SMALL_BESIDE.get(name, {}), name: value}
                assert Configuration("x", changed)[name] == value


@pytest.mark.parametrize("name", config.presets())
def test_toml_of_a_preset_gives_it_back(name):
    device = config.load(name)
    text = device.to_toml()
    assert tomllib.loads(text)["name"] == name
    assert config.parse(text, "another name") == device
    assert config.parse(text).to_toml() == text


def test_the_configuration_that_wrote_a_text_is_found_again():
    device = Configuration("other", {"pe.clusters": 3})
    text = device.to_toml(comments=False)
    assert config.parse(text, "name") is device
    made = config.parse(f"\n{text}", "name")
    assert made is not device
    assert made == device


def test_toml_says_meaning_unit_and_range():
    lines = config.load("tiny").to_toml().splitlines()
    (line,) = [line for line in lines if line.startswith("clusters = ")]
    assert line == "clusters = 2                    # clusters of a row; 1 to 32"
    (line,) = [line for line in lines if line.startswith("local_bytes = ")]
    assert line.endswith("# cp's local memory [bytes]; 131072 to 268435456, a multiple of 4096")


def test_a_file_gives_what_differs(tmp_path):
    path = tmp_path / "my chip.toml"
    path.write_text("[pe]\nclusters = 3\n[mem]\nbanks = 7\n")
    device = config.load(path)
    assert (device.name, device["pe.clusters"], device["mem.banks"]) == ("my_chip", 3, 7)
    assert device["pe.rows"] == 4


def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path):
    path = tmp_path / "wide.toml"
    path.write_bytes(b"\xef\xbb\xbf[pe]\nclusters = 8\n")
    assert config.load(path)["pe.clusters"] == 8


def test_dotted_keys_and_own_name():
    device = config.parse('name = "chip"\npe.clusters = 3\n', "other")
    assert (device.name, device["pe.clusters"]) == ("chip", 3)


def test_a_configuration_is_a_constant_mapping():
    device = config.load("tiny")
    assert set(device) == set(config.settings())
    assert hash(device) == hash(config.load("tiny"))
    assert repr(device) == "<configuration tiny>"
    assert device != "tiny"
    with pytest.raises(TypeError):
        device["pe.rows"] = 3  # type: ignore[index]
    with pytest.raises(KeyError):
        device["pe.row"]


def test_changed_gives_a_copy():
    device = config.load("tiny")
    other = device.changed({"pe.pes": 8})
    assert (device["pe.pes"], other["pe.pes"], other["pe.rows"]) == (4, 8, 2)
    with pytest.raises(ConfigError, match=r"^pe\.pes: 0 is out of range, 1 to 1024$"):
        device.changed({"pe.pes": 0})


# What is refused


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pe.cluster = 1", "pe.cluster: no such field; did you mean 'pe.clusters'?"),
        ("[mem.external]\nlatency = 9", "mem.external.latency: no such field; did you mean 'mem.external_latency'?"),
        ("zzz = 1", "zzz: no such field"),
        ("[zzz]", "zzz: no such field"),
        ('"a b" = 1', "'a b': no such field"),
        ("pe = 3", "pe: 3 is not a table of fields"),
        ("pe = [1]", "pe: a list is not a table of fields"),
        ("[pe.clusters]\nx = 1", "pe.clusters: a table is not a whole number; 1 to 32"),
        ("pe.clusters = 0", "pe.clusters: 0 is out of range, 1 to 32"),
        ("pe.clusters = 33", "pe.clusters: 33 is out of range, 1 to 32"),
        ("pe.clusters = -1", "pe.clusters: -1 is out of range, 1 to 32"),
        ("pe.clusters = 2.0", "pe.clusters: 2.0 is not a whole number; 1 to 32"),
        ("pe.clusters = inf", "pe.clusters: inf is not a whole number; 1 to 32"),
        ("pe.clusters = true", "pe.clusters: true is not a whole number; 1 to 32"),
        ('pe.clusters = "4"', "pe.clusters: '4' is not a whole number; 1 to 32"),
        ("pe.clusters = [4]", "pe.clusters: a list is not a whole number; 1 to 32"),
        ("pe.clusters = 2020-01-01", "pe.clusters: 2020-01-01 is not a whole number; 1 to 32"),
        (f"pe.clusters = {1 << 70}", "pe.clusters: a number of more than 64 bits is out of range, 1 to 32"),
        ("mem.local_bytes = 131073", "mem.local_bytes: 131073 is out of range, 131072 to 268435456, a multiple of 4096"),
        ('pe.design = "5c"', "pe.design: '5c' is not one of 5a, 5b; did you mean '5b'?"),
        ('pe.overflow = "rap"', "pe.overflow: 'rap' is not one of fault, wrap, saturate; did you mean 'wrap'?"),
        ("pe.design = 5", "pe.design: 5 is not a word; one of 5a, 5b"),
        ('fim.island.0.formats = "fp16 fp8"', "fim.island.0.formats: 'fp8' is not one of fp16, fp32, bf16, int8"),
        ('fim.island.0.formats = "fp16 fp16"', "fim.island.0.formats: 'fp16' occurs twice"),
        ('fim.island.0.formats = "fp16  fp32"', "fim.island.0.formats: '' is not one of fp16, fp32, bf16, int8"),
        ("fim.island.0.formats = 16", "fim.island.0.formats: 16 is not a word; words, with blanks between, of fp16, fp32, bf16, int8"),
        ("name = 3", "name: 3 is not a word"),
        ('name = ""', "name: '' is not letters, digits and . _ + -, 64 at most"),
        ('name = "a b"', "name: 'a b' is not letters, digits and . _ + -, 64 at most"),
        ("x = [", "is not TOML: Invalid value (at end of document)"),
        ("a = " + "[" * 100_000, "is not TOML: nested too deeply"),
    ],
)  # fmt: skip
def test_refusals(text, message):
    if message.startswith("pe.design: '5c'"):
        message = "pe.design: '5c' is not one of 5a, 5b" + config._near("5c", ("5a", "5b"))
    refused(text, message)


def test_a_number_of_thousands_of_digits():
    with pytest.raises(ConfigError, match=r"^is not TOML: Exceeds the limit"):
        config.parse("pe.rows = " + "9" * 5000)


def test_long_values_and_names_are_cut():
    with pytest.raises(ConfigError, match=r"^pe\.design: 'x{56}\.\.\. is not one of 5a, 5b$"):
        config.parse(f'pe.design = "{"x" * 1000}"')
    with pytest.raises(ConfigError, match=r"^x{77}\.\.\.: no such field$"):
        config.parse(f"{'x' * 1000} = 1")


def test_fields_without_a_row_yet():
    """The checker handles kinds of settings that no device has yet, such as fractions."""
    ratio = Setting("x.ratio", 0.5, "it", low=0.0, high=1.5)
    for good in (0, 1, 0.25, 1.5):
        config._check(ratio, good)
    with pytest.raises(ConfigError, match=r"^x\.ratio: 2\.0 is out of range, 0 to 1\.5$"):
        config._check(ratio, 2)
    with pytest.raises(ConfigError, match=r"^x\.ratio: nan is out of range, 0 to 1\.5$"):
        config._check(ratio, float("nan"))
    with pytest.raises(ConfigError, match=r"^x\.ratio: a number of more than 64 bits is out of"):
        config._check(ratio, 10**400)
    with pytest.raises(ConfigError, match=r"^x\.ratio: 'a' is not a number; 0 to 1\.5$"):
        config._check(ratio, "a")
    free = Setting("x.free", 1.0, "it")
    config._check(free, -1e300)
    with pytest.raises(ConfigError, match=r"^x\.free: inf is out of range, any to any$"):
        config._check(free, float("inf"))
    switch = Setting("x.switch", False, "it")
    config._check(switch, True)
    with pytest.raises(ConfigError, match=r"^x\.switch: 1 is not true or false; true or false$"):
        config._check(switch, 1)


def test_unknown_device():
    with pytest.raises(ConfigError) as error:
        config.load("tinny")
    assert str(error.value) == (
        "no device is called 'tinny', there are aim, base, bw_a10, bw_s10, bw_s5, ddr4_dimm, hbm2_pim, large, tiny "
        "and any TOML file with settings; did you mean 'tiny'?"
    )


def test_files_that_cannot_be_read(tmp_path):
    missing = tmp_path / "x.toml"
    with pytest.raises(ConfigError) as error:
        config.load(missing)
    assert str(error.value) == f"{missing}: cannot be read: No such file or directory"
    with pytest.raises(ConfigError, match="no device is called"):
        config.load(tmp_path)
    folder = tmp_path / "folder.toml"
    folder.mkdir()
    with pytest.raises(ConfigError, match=r"folder\.toml: cannot be read: Is a directory$"):
        config.load(folder)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match=r"binary\.toml: is not UTF-8 text$"):
        config.load(binary)
    with pytest.raises(ConfigError, match=r"cannot be read: .*embedded null (byte|character)"):
        config.load("a\0b.toml")


def test_all_mistakes_of_a_file_are_in_one_error(tmp_path):
    """Unknown names, wrong values and values in the place of a table, in the file's order by kind."""
    path = tmp_path / "chip.toml"
    path.write_text("dma = 3\n[pe]\nrows = 99\nrow = 1\nclusters = true\npes = 2\n")
    with pytest.raises(ConfigError) as error:
        config.load(path)
    assert str(error.value).splitlines() == [
        f"{path}: dma: 3 is not a table of fields",
        f"{path}: pe.rows: 99 is out of range, 1 to 16",
        f"{path}: pe.row: no such field; did you mean 'pe.rows'?",
        f"{path}: pe.clusters: true is not a whole number; 1 to 32",
    ]
    assert len(error.value.mistakes) == 4
    assert pickle.loads(pickle.dumps(error.value)).mistakes == error.value.mistakes


def test_a_configuration_cannot_be_renamed() -> None:
    """All calls of `load` return the same configuration of a preset, so it cannot change."""
    device, name = config.load("tiny"), "name"
    with pytest.raises(AttributeError):
        setattr(device, name, "other")
    assert config.load("tiny").name == "tiny"


FAR = {"fim.ranks": 8, "fim.bank_groups": 16, "fim.group_banks": 16}  # each value is legal


@pytest.mark.parametrize(
    ("name", "mistake"),
    [
        ("3", "name: 3 is not a word"),
        ('"a b"', "name: 'a b' is not letters, digits and . _ + -, 64 at most"),
    ],
)
def test_a_wrong_name_hides_no_other_mistake(name, mistake):
    with pytest.raises(ConfigError) as error:
        config.parse(f"name = {name}\ndma = 3\nfoo = 1\n[cp]\nzorp = 1\n", "_no name")
    assert sorted(error.value.mistakes) == sorted(
        [
            mistake,
            "dma: 3 is not a table of fields",
            "foo: no such field",
            "cp.zorp: no such field",
        ]
    )
    with pytest.raises(ConfigError) as error:
        config.parse(f"name = {name}\n" + "".join(f"{x} = {n}\n" for x, n in FAR.items()))
    assert error.value.mistakes[0] == mistake
    assert "are 2048 banks" in error.value.mistakes[1]


@pytest.mark.parametrize(("count", "more"), [(20, []), (21, ["and 1 more"]), (50, ["and 30 more"])])
def test_an_error_has_at_most_twenty_mistakes(count, more):
    with pytest.raises(ConfigError) as error:
        config.parse("".join(f"x.y{n} = 1\n" for n in range(count)))
    lines = str(error.value).splitlines()
    assert lines[20:] == more
    assert lines[:20] == [f"x.y{n}: no such field" for n in range(20)]
    assert len(error.value.mistakes) == count


def test_an_error_in_a_file_names_it(tmp_path):
    path = tmp_path / "chip.toml"
    path.write_text("pe.rows = 99\n")
    with pytest.raises(ConfigError) as error:
        config.load(path)
    assert str(error.value) == f"{path}: pe.rows: 99 is out of range, 1 to 16"


# Fuzzing: any text gives a configuration or a ConfigError

VALUES = st.one_of(
    st.integers(),
    st.floats(),
    st.booleans(),
    st.text(max_size=20),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=3),
)


@fuzz
@given(st.text())
def test_any_text(text):
    with suppress(ConfigError):
        config.parse(text)


@fuzz
@given(st.data())
def test_any_edit_of_a_real_file(data):
    text = config.load("tiny").to_toml()
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(text)))
        to = data.draw(st.integers(at, min(len(text), at + 8)))
        text = text[:at] + data.draw(st.text(max_size=8)) + text[to:]
    try:
        device = config.parse(text)
    except ConfigError:
        return
    assert config.parse(device.to_toml()) == device


def test_a_file_may_have_any_name(tmp_path):
    path = tmp_path / "my_device"
    path.write_text(config.load("tiny").to_toml(), "utf-8")
    assert config.load(str(path)) == config.load("tiny")


def is_legal(setting, value):
    if setting is None or type(value) is not type(setting.default):
        return False
    if isinstance(value, str) and setting.several:
        words = value.split(" ") if value else []
        return len(set(words)) == len(words) and set(words) <= set(setting.choices)
    if isinstance(value, str):
        return value in setting.choices
    if isinstance(value, bool):
        return True
    return setting.low <= value <= setting.high and value % setting.step == 0


@fuzz
@given(st.sampled_from([*config.settings(), "pe", "mem.x", "nothing"]), VALUES)
@example("fim.t_refi", 1)  # too short for a refresh
def test_any_value_of_a_field(name, value):
    if is_legal(config.settings().get(name), value):
        try:
            device = Configuration("x", {name: value})
        except ConfigError as error:  # other settings do not allow this value
            assert not str(error).startswith(f"{name}: ")
            assert name in str(error)
            return
        assert config.parse(device.to_toml()) == device
    else:
        with pytest.raises(ConfigError, match=rf"^{re.escape(name)}: "):
            Configuration("x", {name: value})


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"fim.ranks": 16}, "fim.ranks (16) x fim.bank_groups"),
        ({"nnp.native": 1024, "nnp.matrix_rf": 65536}, "(nnp.matrix_rf)"),
        ({"pe.rows": 16, "pe.clusters": 16, "pe.pes": 257}, "pe.pes (257) are 65,792 PEs"),
        ({"pe.pes": 1024, "pe.output_queue": 1024}, "pe.output_queue (1024) entries have"),
    ],
)
def test_settings_that_cannot_be_together_are_no_configuration(values, named):
    """A configuration refuses settings that exclude each other, before a device is built."""
    with pytest.raises(config.ConfigError, match=re.escape(named)):
        config.load("base").changed(values)
    with pytest.raises(config.ConfigError, match=re.escape(named)):
        config.parse("\n".join(f"{field} = {value}" for field, value in values.items()))


@pytest.mark.parametrize("value", [1.0, True])
def test_a_number_that_equals_a_legal_one_is_refused(value):
    """The answer for a value does not depend on an earlier question about an equal one."""
    config.check_field("pe.rows", 1)
    with pytest.raises(
        ConfigError, match=r"^pe\.rows: (1\.0|true) is not a whole number; 1 to 16$"
    ):
        config.check_field("pe.rows", value)
