// Reads the shape of a launch from a tuple, and makes a dictionary of an estimate.
// SPDX-License-Identifier: MIT
#include "python/bindings/LaunchEstimate.h"

#include <nanobind/stl/string.h>

using namespace nereid;
using namespace nereid::python;

std::optional<explain::LaunchShape> nereid::python::launchShapeOf(nb::handle launch) {
  if (launch.is_none())
    return std::nullopt;
  PyObject *scalars = nullptr;
  unsigned long long grid[3] = {1, 1, 1}, memoryBytes = 0;
  unsigned multiprocessors = 0;
  double memoryPeak = 0;
  if (!PyArg_ParseTuple(launch.ptr(), "(KKK)O!KId", &grid[0], &grid[1], &grid[2], &PyDict_Type, &scalars, &memoryBytes,
                        &multiprocessors, &memoryPeak))
    throw nb::python_error();
  explain::LaunchShape shape{{grid[0], grid[1], grid[2]}, {}, memoryBytes, memoryPeak, multiprocessors};
  PyObject *position = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(scalars, &at, &position, &value);) {
    const size_t index = PyLong_AsSize_t(position);
    const long long number = PyLong_AsLongLong(value);
    if (PyErr_Occurred())
      throw nb::python_error();
    if (index >= shape.scalars.size())
      shape.scalars.resize(index + 1);
    shape.scalars[index] = number;
  }
  return shape;
}

nb::object nereid::python::dictOf(const std::optional<explain::Estimate> &estimate) {
  if (!estimate)
    return nb::none();
  nb::dict dict;
  dict["microseconds"] = estimate->microseconds;
  dict["limit"] = estimate->limit;
  dict["shared_bytes"] = estimate->sharedBytes;
  dict["shared_limit"] = estimate->sharedLimit;
  dict["registers"] = estimate->registers;
  dict["spilled"] = estimate->spilled;
  dict["resident_ctas"] = estimate->residentCtas;
  dict["waves"] = estimate->waves;
  dict["bytes"] = estimate->bytes;
  dict["cycles"] = estimate->cycles;
  dict["can_launch"] = estimate->canLaunch();
  return dict;
}
