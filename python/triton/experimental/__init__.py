"""Names that other packages import from here."""
# SPDX-License-Identifier: MIT
