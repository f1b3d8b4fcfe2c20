"""The root of every exception that this package raises on purpose."""
# SPDX-License-Identifier: MIT


class TritonError(Exception):
    """Base class of all Triton exceptions."""
