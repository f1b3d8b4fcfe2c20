"""Names that others import from here."""
# SPDX-License-Identifier: MIT
