// Compiles the shared precompiled header; see Pch.h.
// SPDX-License-Identifier: MIT
