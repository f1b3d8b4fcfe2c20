# Writes test/unit/layout/AmdMatrixMaps.inc: which element is in which lane and register, as AMD's calculator prints it.
# SPDX-License-Identifier: MIT
#
# The calculator is the repository ROCm/amd_matrix_instruction_calculator on GitHub, a Python program that needs
# `tabulate`. The file names the release and the commit; those of the file in the tree are 1.3.2 and 2ef91896bcdc:
#     python test/scripts/read_amd_matrix_maps.py CALCULATOR/matrix_calculator.py --commit 2ef91896bcdc
#
# All maps are linear over bits: the element of a lane and register is the XOR of one basis for each bit of their
# numbers. The script writes the bases, and stops at an element that the bases do not give.
import argparse
import csv
import pathlib
import re
import subprocess
import sys

OUTPUT = pathlib.Path(__file__).parent.parent / "test" / "unit" / "layout" / "AmdMatrixMaps.inc"
CELL = re.compile(r"[ABD]\[(\d+)\]\[(\d+)\]$")

Element = tuple[int, int]

# For each generation the instructions, with the element types of A and B.
FLOATS_OF_8_BITS = [("fp8", "fp8"), ("fp8", "bf8"), ("bf8", "fp8"), ("bf8", "bf8")]
INSTRUCTIONS: dict[str, list[tuple[str, str, str]]] = {
    "CDNA2": [
        ("v_mfma_f32_32x32x8f16", "f16", "f16"),
        ("v_mfma_f32_16x16x16f16", "f16", "f16"),
        ("v_mfma_f32_32x32x8bf16_1k", "bf16", "bf16"),
        ("v_mfma_f32_16x16x16bf16_1k", "bf16", "bf16"),
        ("v_mfma_f32_32x32x2f32", "f32", "f32"),
        ("v_mfma_f32_16x16x4f32", "f32", "f32"),
        ("v_mfma_f64_16x16x4f64", "f64", "f64"),
        ("v_mfma_i32_32x32x8i8", "i8", "i8"),
        ("v_mfma_i32_16x16x16i8", "i8", "i8"),
    ],
    "CDNA3": [
        ("v_mfma_f32_32x32x8_f16", "f16", "f16"),
        ("v_mfma_f32_16x16x16_f16", "f16", "f16"),
        ("v_mfma_f32_32x32x8_bf16", "bf16", "bf16"),
        ("v_mfma_f32_16x16x16_bf16", "bf16", "bf16"),
        ("v_mfma_f32_32x32x2_f32", "f32", "f32"),
        ("v_mfma_f32_16x16x4_f32", "f32", "f32"),
        ("v_mfma_f32_32x32x4_xf32", "xf32", "xf32"),
        ("v_mfma_f32_16x16x8_xf32", "xf32", "xf32"),
        ("v_mfma_f64_16x16x4_f64", "f64", "f64"),
        ("v_mfma_i32_32x32x16_i8", "i8", "i8"),
        ("v_mfma_i32_16x16x32_i8", "i8", "i8"),
        *[(f"v_mfma_f32_32x32x16_{a}_{b}", a, b) for a, b in FLOATS_OF_8_BITS],
        *[(f"v_mfma_f32_16x16x32_{a}_{b}", a, b) for a, b in FLOATS_OF_8_BITS],
    ],
    "RDNA3": [
        ("v_wmma_f32_16x16x16_f16", "f16", "f16"),
        ("v_wmma_f32_16x16x16_bf16", "bf16", "bf16"),
        ("v_wmma_i32_16x16x16_iu8", "i8", "i8"),
    ],
    "RDNA4": [
        ("v_wmma_f32_16x16x16_f16", "f16", "f16"),
        ("v_wmma_f32_16x16x16_bf16", "bf16", "bf16"),
        ("v_wmma_i32_16x16x16_iu8", "i8", "i8"),
        *[(f"v_wmma_f32_16x16x16_{a}_{b}", a, b) for a, b in FLOATS_OF_8_BITS],
    ],
}
LANES = {"CDNA2": 64, "CDNA3": 64, "RDNA3": 32, "RDNA4": 32}


class Calculator:
    def __init__(self, program: str) -> None:
        self.program = program

    def run(self, *arguments: str) -> str:
        command = [sys.executable, self.program, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def version(self) -> str:
        return self.run("--version").split()[-1]

    def elements(self, generation: str, instruction: str, matrix: str) -> list[list[Element]]:
        """The row and column of the element that a lane has in a register, or in a part of one."""
        wave = ["-w", str(LANES[generation])]
        asked = [
            "-a",
            generation,
            "-i",
            instruction,
            "--matrix-layout",
            "--csv",
            f"-{matrix}",
            *wave,
        ]
        lines = self.run(*asked).splitlines()
        head = next(index for index, line in enumerate(lines) if line.startswith("lane,"))
        lanes = [row[1:] for row in csv.reader(lines[head + 1 :]) if row]
        assert len(lanes) == LANES[generation], (generation, instruction, matrix)
        return [[element_of(cell) for cell in lane] for lane in lanes]


def element_of(cell: str) -> Element:
    found = CELL.match(cell)
    if not found:
        raise ValueError(f"no element: {cell!r}")
    return int(found[1]), int(found[2])


def combined(number: int, bases: list[Element]) -> Element:
    row = column = 0
    for bit, basis in enumerate(bases):
        if number >> bit & 1:
            row, column = row ^ basis[0], column ^ basis[1]
    return row, column


def bases_of(elements: list[list[Element]]) -> tuple[list[Element], list[Element]]:
    """For the bits of register numbers and of lanes."""
    num_lanes, num_registers = len(elements), len(elements[0])
    registers = [elements[0][1 << bit] for bit in range(num_registers.bit_length() - 1)]
    lanes = [elements[1 << bit][0] for bit in range(num_lanes.bit_length() - 1)]
    for lane in range(num_lanes):
        for register in range(num_registers):
            of_lane, of_register = combined(lane, lanes), combined(register, registers)
            made = (of_lane[0] ^ of_register[0], of_lane[1] ^ of_register[1])
            assert made == elements[lane][register], (lane, register)
    return registers, lanes


def list_text(bases: list[Element]) -> str:
    return "{" + ", ".join(f"{{{row}, {column}}}" for row, column in bases) + "}"


def map_text(calculator: Calculator, generation: str, instruction: str, matrix: str) -> str:
    registers, lanes = bases_of(calculator.elements(generation, instruction, matrix))
    return f" /*{matrix}*/ {{{list_text(registers)},\n        {list_text(lanes)}}}"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("calculator", help="matrix_calculator.py")
    parser.add_argument("--commit", required=True, help="of the calculator's repository")
    arguments = parser.parse_args()
    calculator = Calculator(arguments.calculator)
    text = (
        "// Bases of the maps from registers and lanes to elements of A, B and D. Written by\n"
        "// test/scripts/read_amd_matrix_maps.py from what AMD's matrix instruction calculator prints, release\n"
        f"// {calculator.version()}, commit {arguments.commit}.\n"
        "// SPDX-License-Identifier: MIT\n"
        "// clang-format off\n"
    )
    for generation, instructions in INSTRUCTIONS.items():
        for instruction, left, right in instructions:
            maps = ",\n".join(
                map_text(calculator, generation, instruction, matrix) for matrix in "ABD"
            )
            text += f'{{"{generation}", "{instruction}", "{left}", "{right}",\n{maps}}},\n'
    OUTPUT.write_text(text + "// clang-format on\n")


if __name__ == "__main__":
    main()
