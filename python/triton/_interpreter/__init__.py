"""Kernels whose body Python itself runs. Each operation of the language is a kernel of its own that the compiler
makes for the CPU: docs/why/interpreter.md.
"""
# SPDX-License-Identifier: MIT
