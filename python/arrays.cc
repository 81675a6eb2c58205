// SPDX-License-Identifier: BSD-3-Clause
#include "python/arrays.h"

#include <cmath>

namespace aerocast::python {
namespace py = pybind11;
namespace {

// Vectors are laid out as numpy wants them.
static_assert(sizeof(Vec3) == 3 * sizeof(double));

// Instants of more than 292 years do not fit.
constexpr double kMostSeconds = 9.2e9;

[[noreturn]] void Refuse(const std::string& where, const std::string& sentence) {
  throw py::value_error(where + sentence);
}

std::string ShapeOf(const py::array& a) { return py::str(a.attr("shape")).cast<std::string>(); }
std::string TypeOf(const py::array& a) { return py::str(a.dtype()).cast<std::string>(); }

py::array ToArray(const py::object& object, const std::string& where, const char* name) {
  py::array array = py::array::ensure(object);
  if (!array) {
    PyErr_Clear();
    Refuse(where, std::string(name) + " is not an array of numbers");
  }
  return array;
}

bool IsInstant(double seconds) { return std::abs(seconds) <= kMostSeconds; }

[[noreturn]] void RefuseInstant(const std::string& where, const std::string& name, double seconds) {
  Refuse(where, name + " is " + py::str(py::float_(seconds)).cast<std::string>() +
                    ", expected seconds within 9.2e9 of 0");
}

bool HasType(const py::array& array, const py::dtype& type) { return array.dtype().equal(type); }

void ReadStamps(const py::object& t, const std::string& where, std::vector<Observation>& samples) {
  const py::array array = ToArray(t, where, "t");
  if (array.ndim() != 1) Refuse(where, "t has shape " + ShapeOf(array) + ", expected (n,)");
  samples.resize(static_cast<std::size_t>(array.size()));
  if (HasType(array, py::dtype::of<double>())) {
    const auto seconds = py::array_t<double>(array).unchecked<1>();
    for (py::ssize_t i = 0; i < seconds.size(); ++i) {
      if (!IsInstant(seconds(i))) {
        RefuseInstant(where, "t[" + std::to_string(i) + "]", seconds(i));
      }
      samples[static_cast<std::size_t>(i)].t_ns = DurationNs(seconds(i));
    }
  } else if (HasType(array, py::dtype::of<TimeNs>()) && py::isinstance<py::array>(t)) {
    const auto ns = py::array_t<TimeNs>(array).unchecked<1>();
    for (py::ssize_t i = 0; i < ns.size(); ++i) samples[static_cast<std::size_t>(i)].t_ns = ns(i);
  } else {  // also a list of ints: nobody can tell whether these are seconds
    Refuse(where, "t is of type " + TypeOf(array) +
                      ", expected float64 seconds or a numpy array of int64 nanoseconds");
  }
}

void ReadPositions(const py::object& p, const std::string& where,
                   std::vector<Observation>& samples) {
  const py::array array = ToArray(p, where, "p");
  const auto n = static_cast<py::ssize_t>(samples.size());
  if (array.dtype().kind() != 'f' && array.dtype().kind() != 'i' && array.dtype().kind() != 'u') {
    Refuse(where, "p is of type " + TypeOf(array) + ", expected float64 metres");
  }
  const bool nothing = n == 0 && array.size() == 0;
  if (!nothing && (array.ndim() != 2 || array.shape(0) != n || array.shape(1) != 3)) {
    Refuse(where, "p has shape " + ShapeOf(array) + ", expected (" + std::to_string(n) +
                      ", 3): one position for each stamp");
  }
  if (nothing) return;
  const auto metres = py::array_t<double, py::array::forcecast>(array).unchecked<2>();
  for (py::ssize_t i = 0; i < n; ++i) {
    samples[static_cast<std::size_t>(i)].p_world = {metres(i, 0), metres(i, 1), metres(i, 2)};
  }
}

py::array ReadOnly(py::array array) {
  array.attr("setflags")(py::arg("write") = false);
  return array;
}

}  // namespace

std::vector<Observation> ToSamples(const py::object& t, const py::object& p,
                                   const std::string& where) {
  std::vector<Observation> samples;
  ReadStamps(t, where, samples);
  ReadPositions(p, where, samples);
  return samples;
}

TimeNs ToTimeNs(const py::object& t, const char* name) {
  if (PyIndex_Check(t.ptr())) {  // also numpy's integers
    const long long ns = PyLong_AsLongLong(t.attr("__index__")().ptr());
    if (PyErr_Occurred()) throw py::error_already_set();
    return ns;
  }
  if (!py::isinstance<py::float_>(t)) {
    Refuse(name, " is neither a float (seconds) nor an int (nanoseconds)");
  }
  const auto seconds = t.cast<double>();
  if (!IsInstant(seconds)) RefuseInstant("", name, seconds);
  return DurationNs(seconds);
}

py::array View(std::span<const double> data, std::vector<py::ssize_t> shape,
               const py::object& owner) {
  return ReadOnly(py::array(py::dtype::of<double>(), std::move(shape), {}, data.data(), owner));
}

py::array View(std::span<const Vec3> data, std::vector<py::ssize_t> shape,
               const py::object& owner) {
  shape.push_back(3);
  const auto* numbers = reinterpret_cast<const double*>(data.data());
  return View(std::span(numbers, 3 * data.size()), std::move(shape), owner);
}

py::array StampView(std::span<const Observation> samples, const py::object& owner) {
  const std::vector<py::ssize_t> shape = {static_cast<py::ssize_t>(samples.size())};
  const std::vector<py::ssize_t> strides = {sizeof(Observation)};
  return ReadOnly(py::array(py::dtype::of<TimeNs>(), shape, strides, &samples.data()->t_ns, owner));
}

py::array PositionView(std::span<const Observation> samples, const py::object& owner) {
  const std::vector<py::ssize_t> shape = {static_cast<py::ssize_t>(samples.size()), 3};
  const std::vector<py::ssize_t> strides = {sizeof(Observation), sizeof(double)};
  return ReadOnly(
      py::array(py::dtype::of<double>(), shape, strides, &samples.data()->p_world, owner));
}

void WriteMatrix(const Cov3& c, double* out) {
  const double rows[9] = {c.xx, c.xy, c.xz, c.xy, c.yy, c.yz, c.xz, c.yz, c.zz};
  std::copy(rows, rows + 9, out);
}

}  // namespace aerocast::python
