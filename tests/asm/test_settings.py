"""A device with settings in the source: `.setting`, its disassembly, executables of other tools."""

from __future__ import annotations

from pathlib import Path

import pytest

import macaw
from macaw.asm import elf
from macaw.asm.assembler import assemble
from macaw.asm.diagnostics import AssemblyError, Diagnostic
from macaw.asm.disassembler import disassemble
from macaw.asm.editing.program import EditedProgram
from macaw.asm.program import Program
from macaw.asm.source import Source
from macaw.isa import config
from macaw.isa.model import Setting
from tests.c_programs import c_compilers

ROOT = Path(__file__).parents[2]
CODE = "        .core   cp\n        li      a0, 3\n        li      a7, 93\n        ecall\n"


def other_value(setting: Setting) -> config.Value | None:
    """A legal value that is not the default; None if there is none."""
    if isinstance(setting.default, bool):
        return not setting.default
    if setting.choices:
        return next((word for word in setting.choices if word != setting.default), None)
    for value in (setting.low, setting.high):
        if value is not None and value != setting.default:
            return type(setting.default)(value)
    return None


def back(program: Program) -> Program:
    return assemble(Source(disassemble(program), "back.s"))


@pytest.mark.once
@pytest.mark.parametrize(
    "preset",
    [
        name if name == "tiny" else pytest.param(name, marks=pytest.mark.long)
        for name in config.presets()
    ],
)
def test_each_field_comes_back(preset: str) -> None:
    """If a device differs from a preset in one field, the disassembly makes the same device."""
    base, tried = config.load(preset), 0
    for field, setting in config.settings().items():
        value = other_value(setting)
        try:
            changed = base.changed({field: value} if value is not None else {})
            program = assemble(Source(CODE, "a.s"), device=changed)
        except (config.ConfigError, AssemblyError):
            continue
        again = back(program)
        assert again.config_toml == program.config_toml, field
        assert again.device == preset
        tried += changed != base
    assert tried >= len(config.settings()) // 2


def test_the_name_of_a_device_comes_back() -> None:
    text = f"        .device tiny\n        .setting name, mine\n        .setting pe.rows, 1\n{CODE}"
    program = assemble(Source(text, "a.s"))
    assert program.device == "mine"
    again = back(program)
    assert (again.device, again.config_toml) == ("mine", program.config_toml)
    assert elf.write(again, lines=False) == elf.write(program, lines=False)
    assert ".setting pe.rows, 1\n" in disassemble(program)


def test_values_that_agree_together_alone() -> None:
    """Settings are checked together at the end, not while only some of them are set."""
    fields = ("nnp.native", "nnp.matrix_rf")
    large = {field: config.settings()[field].high for field in fields}
    lines = [f"        .setting {field}, {value}\n" for field, value in large.items()]
    text = "        .device tiny\n" + "".join(lines)
    with pytest.raises(AssemblyError, match="can be simulated") as wrong:
        assemble(Source(f"{text}{CODE}", "a.s"))
    assert [item.span.line for item in wrong.value.errors] == [3]
    program = assemble(Source(f"{text}        .setting nnp.matrix_rf, 16\n{CODE}", "a.s"))
    found = config.parse(program.config_toml)
    assert (found["nnp.native"], found["nnp.matrix_rf"]) == (large["nnp.native"], 16)


def errors(text: str, folder: Path | None = None) -> list[tuple[int, str, str]]:
    """The line, message and hint of each error."""
    with pytest.raises(AssemblyError) as wrong:
        assemble(Source(text, "a.s", folder))
    return [(item.span.line, item.message, item.hint) for item in wrong.value.errors]


def test_each_contradiction_is_an_error_of_the_line_that_caused_it() -> None:
    fields = ["nnp.native, 1024", "nnp.matrix_rf, 65536", "dma.width, 32", "fim.ranks, 8"]
    fields += ["fim.bank_groups, 16", "fim.group_banks, 16", "dma.setup, 9"]
    text = "        .device tiny\n" + "".join(f"        .setting {field}\n" for field in fields)
    found = errors(text + CODE)
    assert [line for line, _, _ in found] == [3, 7]
    assert ["can be simulated" in message for _, message, _ in found] == [True, False]
    assert ["are 2048 banks" in message for _, message, _ in found] == [False, True]


def test_a_line_that_causes_two_contradictions_has_two_errors() -> None:
    fields = ("nnp.matrix_rf, 65536", "nnp.quantise, mx", "nnp.native, 1000")
    text = "        .device tiny\n" + "".join(f"        .setting {field}\n" for field in fields)
    (first, large, _), (second, broken, _) = errors(text + CODE)
    assert (first, second) == (4, 4)
    assert large.endswith("can be simulated")
    assert broken.startswith("a native vector of 1000 elements (nnp.native) does not consist")


@pytest.mark.parametrize(
    "mistakes",
    [
        {"cp.divder = 2": ("cp.divder: no such field", "did you mean 'cp.divider'?")},
        {
            "cp.divder = 2": ("cp.divder: no such field", "did you mean 'cp.divider'?"),
            'cp.alu_cycles = "a"': ("cp.alu_cycles: 'a' is not a whole number; 1 to 64", ""),
            "mem.bank = 3": ("mem.bank: no such field", "did you mean 'mem.banks'?"),
        },
    ],
    ids=["one", "three"],
)
def test_each_mistake_of_a_device_file_is_an_error(
    tmp_path: Path, mistakes: dict[str, tuple[str, str]]
) -> None:
    """An editor shows them, too, and the code after them is checked for the default device."""
    path = tmp_path / "chip.toml"
    path.write_text("\n".join(mistakes))
    text = f'        .device "chip.toml"\n{CODE}        bogus x1\n'
    where = [(1, f"{path}: {message}", hint) for message, hint in mistakes.values()]
    found = errors(text, tmp_path)
    assert found[:-1] == where
    assert found[-1][0] == 6
    source = Source(text, str(tmp_path / "a.s"), tmp_path)
    edited = EditedProgram((source,)).assembly.report.diagnostics()
    assert [(item.span.line, item.message, item.hint) for item in edited] == found


def test_the_caller_s_device_replaces_both() -> None:
    text = f"        .device tiny\n        .setting pe.rows, 1\n        .setting cp.mul_cycles, 9\n{CODE}"
    program = assemble(Source(text, "a.s"), device="base")
    assert program.device == "base"
    (warning,) = [item for item in program.warnings if isinstance(item, Diagnostic)]
    assert (warning.name, warning.span.line) == ("device", 2)
    assert "--device" in warning.message


def test_a_setting_before_its_device() -> None:
    with pytest.raises(AssemblyError, match="the device is base already"):
        assemble(Source(f"        .setting pe.rows, 1\n        .device tiny\n{CODE}", "a.s"))


def memory(program: Program) -> dict[int, int]:
    """The bytes by address, without zeros."""
    return {
        section.address + place: byte
        for section in program.sections
        for place, byte in enumerate(section.data)
        if byte
    }


def same_again(data: bytes) -> None:
    program = elf.read(data)
    again = back(program)
    assert memory(again) == memory(program)
    assert again.entry == program.entry
    ours, other = macaw.run(again), macaw.run(program)
    assert (ours.stdout, ours.exit_code) == (other.stdout, other.exit_code)


def test_an_executable_of_another_tool_comes_back() -> None:
    same_again((ROOT / "tests" / "emu" / "c" / "tour.elf").read_bytes())


@pytest.mark.once
@pytest.mark.skipif(c_compilers.is_missing("gcc"), reason="no gcc for RISC-V here")
@pytest.mark.parametrize(
    "name",
    [
        name if name == "globals" else pytest.param(name, marks=pytest.mark.long)
        for name in c_compilers.PROGRAMS
    ],
)
def test_c_programs_come_back(tmp_path: Path, name: str) -> None:
    c_compilers.linked(tmp_path / "a.elf", "-O2", name)
    same_again((tmp_path / "a.elf").read_bytes())
