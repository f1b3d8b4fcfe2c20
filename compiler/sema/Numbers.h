// Python's numbers as compile-time values: conversion, comparison and arithmetic.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/Type.h"
#include "compiler/sema/Value.h"
#include "compiler/syntax/AstExpr.h"

#include "llvm/ADT/APInt.h"

#include <compare>
#include <optional>
#include <string>
#include <variant>

namespace nereid::sema {

/// The limit of integers, which bounds the cost of folding.
inline constexpr unsigned maxIntegerBits = 16384;

/// An int or a bool as an integer.
llvm::DynamicAPInt integerOf(const Value &number);
/// A number as a double, correctly rounded; nothing for an integer beyond its range.
std::optional<double> doubleOf(const Value &number);
/// The integer with room for its sign, in at least 65 bits.
llvm::APInt exact(const llvm::DynamicAPInt &integer);
/// The integer in two's complement of `bits` bits; higher bits are dropped.
llvm::APInt wrapped(const llvm::DynamicAPInt &integer, unsigned bits);
/// A finite double truncated to an integer.
llvm::DynamicAPInt truncated(double number);

/// The type that a number has by itself (int32, uint32, int64, uint64, fp32, fp64, int1); nothing for an integer of
/// more than 64 bits.
std::optional<Scalar> naturalScalar(const Value &number);
/// Whether the integer lies in the range of an integer type.
bool fits(const llvm::DynamicAPInt &integer, Scalar type);
/// Compares the values; exact, also between ints and floats.
std::partial_ordering compareNumbers(const Value &left, const Value &right);
/// As Python's repr: "0.1", "1e-05", "inf".
std::string reprOf(double number);

/// The reason why two numbers have no result.
enum class NumberError { DivisionByZero, NegativeShift, TooLarge, FloatOverflow, Unsupported };
using NumberResult = std::variant<Value, NumberError>;
/// `left op right` of two numbers, as Python computes it.
NumberResult combineNumbers(syntax::BinaryOperator op, const Value &left, const Value &right);

} // namespace nereid::sema
