"""Interpreter mode: Python itself runs the bodies of kernels. Each operation of the language is a
kernel of its own, compiled for the CPU: docs/why/interpreter.md.
"""
# SPDX-License-Identifier: MIT
