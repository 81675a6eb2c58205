// SPDX-License-Identifier: BSD-3-Clause
//
// Numpy arrays in and out. What comes in is checked and copied; what goes out is a read-only view
// of the C++ object that owns the numbers, which the view keeps alive.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <span>
#include <string>
#include <vector>

#include "aerocast/history.h"
#include "aerocast/time.h"

namespace aerocast::python {

// t is (n,): float64 seconds or int64 nanoseconds; p is (n, 3) metres. Anything else is a
// ValueError that begins with `where`. Positions may be NaN: forecasters skip such samples.
std::vector<Observation> ToSamples(const pybind11::object& t, const pybind11::object& p,
                                   const std::string& where);

// One instant: a float is seconds, an int nanoseconds.
TimeNs ToTimeNs(const pybind11::object& t, const char* name);

// `data` as an array of this shape; it belongs to `owner`.
pybind11::array View(std::span<const double> data, std::vector<pybind11::ssize_t> shape,
                     const pybind11::object& owner);
// The same with a last dimension of 3.
pybind11::array View(std::span<const Vec3> data, std::vector<pybind11::ssize_t> shape,
                     const pybind11::object& owner);

// Samples as two arrays that share their memory: stamps (n,) int64 and positions (n, 3).
pybind11::array StampView(std::span<const Observation> samples, const pybind11::object& owner);
pybind11::array PositionView(std::span<const Observation> samples, const pybind11::object& owner);

// Writes the symmetric matrix out as nine numbers, row by row.
void WriteMatrix(const Cov3& c, double* out);

}  // namespace aerocast::python
