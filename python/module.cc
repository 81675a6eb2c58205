// SPDX-License-Identifier: BSD-3-Clause
//
// aerocast._native: what the Python package is made of. The package's types and texts are in
// python/aerocast/__init__.pyi; the docstrings here say the same in short.
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "aerocast/classical.h"
#include "aerocast/load.h"
#include "aerocast/recording.h"
#include "aerocast/version.h"
#include "python/arrays.h"
#include "python/shared_forecaster.h"

namespace aerocast::python {
namespace py = pybind11;
namespace {

[[noreturn]] void Raise(const Error& error) {
  PyObject* type = error.code == ErrorCode::kNotFound      ? PyExc_FileNotFoundError
                   : error.code == ErrorCode::kIo          ? PyExc_OSError
                   : error.code == ErrorCode::kOutOfMemory ? PyExc_MemoryError
                                                           : PyExc_ValueError;
  PyErr_SetString(type, error.message.c_str());
  throw py::error_already_set();
}

template <typename T>
T Unwrap(Result<T> result) {
  if (!result.ok()) Raise(result.error());
  return std::move(result).value();
}

py::ssize_t Size(std::size_t n) { return static_cast<py::ssize_t>(n); }

std::unique_ptr<SharedForecaster> Load(const std::filesystem::path& path,
                                       const std::string& weights, int threads) {
  if (weights != "single" && weights != "half") {
    throw py::value_error("weights is '" + weights + "', expected 'single' or 'half'");
  }
  if (threads < 1 || threads > kMaxThreads) {
    throw py::value_error("threads is " + std::to_string(threads) + ", expected 1 to " +
                          std::to_string(kMaxThreads));
  }
  LoadOptions options;
  options.weights = weights == "half" ? WeightStorage::kHalf : WeightStorage::kSingle;
  Result<std::unique_ptr<Forecaster>> loaded = [&] {
    const py::gil_scoped_release release;
    return LoadForecaster(path, options);
  }();
  return std::make_unique<SharedForecaster>(Unwrap(std::move(loaded)), threads);
}

std::unique_ptr<SharedForecaster> Classical(const std::string& name, int steps, double dt) {
  return std::make_unique<SharedForecaster>(Unwrap(MakeClassical(name, steps, dt)), 1);
}

double CheckNoise(double noise) {
  if (std::isfinite(noise) && noise >= 0) return noise;
  throw py::value_error("noise is " + py::str(py::float_(noise)).cast<std::string>() +
                        ", expected metres, 0 when unknown");
}

Forecast Predict(const SharedForecaster& forecaster, const py::object& t, const py::object& p,
                 double noise, std::string id) {
  const Track track{std::move(id), ToSamples(t, p, ""), CheckNoise(noise)};
  const py::gil_scoped_release release;
  return std::move(forecaster.Predict({&track, 1}).front());
}

// One of a batch: a pair (t, p).
std::vector<Observation> SamplesOfTrack(const py::object& track, std::size_t n) {
  const std::string name = "track " + std::to_string(n);
  if (!py::isinstance<py::sequence>(track) || py::len(track) != 2) {
    throw py::value_error(name + " is not a pair (t, p)");
  }
  const auto pair = py::reinterpret_borrow<py::sequence>(track);
  return ToSamples(pair[0], pair[1], name + ": ");
}

std::vector<Forecast> PredictBatch(const SharedForecaster& forecaster, const py::sequence& tracks,
                                   double noise,
                                   const std::optional<std::vector<std::string>>& ids) {
  const std::size_t count = tracks.size();
  if (ids && ids->size() != count) {
    throw py::value_error("ids has " + std::to_string(ids->size()) + " entries, expected " +
                          std::to_string(count) + ": one for each track");
  }
  CheckNoise(noise);
  std::vector<Track> questions;
  questions.reserve(count);
  for (std::size_t n = 0; n < count; ++n) {
    questions.push_back({ids ? (*ids)[n] : "", SamplesOfTrack(tracks[n], n), noise});
  }
  const py::gil_scoped_release release;
  return forecaster.Predict(questions);
}

void BindForecaster(py::module_& m) {
  py::class_<SharedForecaster>(
      m, "Forecaster",
      "Anything that forecasts; made by load() or classical(). Never changes, and may be called "
      "from any number of threads at once: the interpreter's lock is released while it computes.")
      .def("predict", &Predict, py::arg("t"), py::arg("p"), py::arg("noise") = 0.0,
           py::arg("id") = "",
           "Forecasts one object from its positions p (n, 3) in metres at t (n,): float64 seconds "
           "or int64 nanoseconds. noise is the sigma of an observation per axis, 0 when unknown.")
      .def("predict_batch", &PredictBatch, py::arg("tracks"), py::arg("noise") = 0.0,
           py::arg("ids") = py::none(),
           "Forecasts several objects, a list of (t, p); the same bits as one by one.")
      .def_property_readonly("name", [](const SharedForecaster& f) { return f.info().name; })
      .def_property_readonly("description",
                             [](const SharedForecaster& f) { return f.info().description; })
      .def_property_readonly("fingerprint",
                             [](const SharedForecaster& f) { return f.info().fingerprint; })
      .def_property_readonly("history",
                             [](const SharedForecaster& f) { return f.info().history_s; })
      .def_property_readonly("dt", [](const SharedForecaster& f) { return f.info().dt_s; })
      .def_property_readonly("steps",
                             [](const SharedForecaster& f) { return f.info().shape.steps; })
      .def_property_readonly("modes",
                             [](const SharedForecaster& f) { return f.info().shape.modes; })
      .def_property_readonly("threads", &SharedForecaster::threads)
      .def("__repr__", [](const SharedForecaster& f) {
        return "<aerocast.Forecaster " + f.info().name + ": " + f.info().description + ">";
      });
}

py::array Times(const Forecast& f) {
  py::array_t<double> times(f.steps());
  for (int i = 0; i < f.steps(); ++i) times.mutable_at(i) = DurationS(f.time_ns(i));
  return times;
}

py::array Points(const py::object& self) {
  const auto& f = self.cast<const Forecast&>();
  return View(f.point_path(), {f.steps()}, self);
}

py::array Weights(const py::object& self) {
  const auto& f = self.cast<const Forecast&>();
  return View(f.weights(), {f.modes()}, self);
}

py::array Means(const py::object& self) {
  const auto& f = self.cast<const Forecast&>();
  const auto count = static_cast<std::size_t>(f.modes()) * static_cast<std::size_t>(f.steps());
  const Vec3* first = count == 0 ? nullptr : &f.mean(0, 0);
  return View(std::span(first, count), {f.modes(), f.steps()}, self);
}

py::array Covs(const Forecast& f) {
  py::array_t<double> covs({f.modes(), f.steps(), 3, 3});
  double* out = covs.mutable_data();
  for (int k = 0; k < f.modes(); ++k) {
    for (int i = 0; i < f.steps(); ++i, out += 9) WriteMatrix(f.cov(k, i), out);
  }
  return covs;
}

py::array MixtureMean(const Forecast& f) {
  py::array_t<double> means({f.steps(), 3});
  for (int i = 0; i < f.steps(); ++i) {
    const Vec3 mean = f.mixture_mean(i);
    means.mutable_at(i, 0) = mean.x, means.mutable_at(i, 1) = mean.y,
                        means.mutable_at(i, 2) = mean.z;
  }
  return means;
}

py::array MixtureCov(const Forecast& f) {
  py::array_t<double> covs({f.steps(), 3, 3});
  for (int i = 0; i < f.steps(); ++i) WriteMatrix(f.mixture_cov(i), covs.mutable_data(i));
  return covs;
}

py::array SamplePaths(const Forecast& f, std::uint64_t seed, int n) {
  if (n < 0) throw py::value_error("n is " + std::to_string(n) + ", expected 0 or more paths");
  auto paths = std::make_unique<std::vector<Vec3>>();
  {
    const py::gil_scoped_release release;
    paths->resize(static_cast<std::size_t>(n) * static_cast<std::size_t>(f.steps()));
    f.SamplePaths(seed, n, *paths);
  }
  const auto* numbers = reinterpret_cast<const double*>(paths->data());
  const py::capsule owner(paths.release(),
                          [](void* p) { delete static_cast<std::vector<Vec3>*>(p); });
  return py::array_t<double>({n, f.steps(), 3}, numbers, owner);
}

std::string Repr(const Forecast& f) {
  return "<aerocast.Forecast " + (f.id.empty() ? "" : "of " + f.id + ", ") +
         std::string(QualityName(f.quality)) + ", " + std::to_string(f.steps()) + " steps, " +
         std::to_string(f.modes()) + " modes>";
}

// Optional parts are None when there are none.
py::object Displacement(const py::object& self) {
  const auto& f = self.cast<const Forecast&>();
  if (!f.displacement.present()) return py::none();
  return py::cast(&f.displacement, py::return_value_policy::reference_internal, self);
}

py::object Conformal(const py::object& self) {
  const auto& f = self.cast<const Forecast&>();
  if (!f.conformal.present()) return py::none();
  return py::cast(&f.conformal, py::return_value_policy::reference_internal, self);
}

void BindForecast(py::module_& m) {
  py::class_<Forecast>(m, "Forecast",
                       "Where one object will be, as a mixture of Gaussians in the world frame. "
                       "Index i of every array is the position at t0 + (i + 1) * dt.")
      .def_readonly("id", &Forecast::id)
      .def_readonly("t0_ns", &Forecast::t0_ns)
      .def_property_readonly("t0", [](const Forecast& f) { return DurationS(f.t0_ns); })
      .def_readonly("dt", &Forecast::dt_s)
      .def_property_readonly("quality", [](const Forecast& f) { return QualityName(f.quality); })
      .def_readonly("age", &Forecast::age_s)
      .def_property_readonly("steps", &Forecast::steps)
      .def_property_readonly("modes", &Forecast::modes)
      .def_property_readonly("times", &Times, "(S,) seconds")
      .def_property_readonly("point", &Points, "(S, 3) the single best guess")
      .def_property_readonly("weights", &Weights, "(K,) sum to 1")
      .def_property_readonly("means", &Means, "(K, S, 3)")
      .def_property_readonly("covs", &Covs, "(K, S, 3, 3), made at each call")
      .def_property_readonly("displacement", &Displacement)
      .def_property_readonly("conformal", &Conformal)
      .def_property_readonly("mode_entropy", &Forecast::mode_entropy)
      .def_property_readonly("most_likely_mode", &Forecast::most_likely_mode)
      .def("mixture_mean", &MixtureMean, "(S, 3) of the whole mixture")
      .def("mixture_cov", &MixtureCov, "(S, 3, 3) of the whole mixture")
      .def("sample_paths", &SamplePaths, py::arg("seed"), py::arg("n"),
           "(n, S, 3) whole paths drawn from the distribution; the same seed, the same paths")
      .def(
          "ask_at",
          [](Forecast& f, const py::object& t, double stale_after) {
            f.AskAt(ToTimeNs(t, "t_now"), stale_after);
          },
          py::arg("t_now"), py::arg("stale_after") = 0.5,
          "Says that the forecast is used at t_now: sets age, and quality when it is stale")
      .def("__repr__", &Repr);
}

void BindParts(py::module_& m) {
  const auto table = [](auto member) {  // (S, components), with 3 more for vectors
    return [member](const py::object& self) {
      const auto& d = self.cast<const DisplacementMixture&>();
      const std::span data(d.*member);
      return View(data, {Size(data.size()) / d.components, d.components}, self);
    };
  };
  py::class_<DisplacementMixture>(
      m, "DisplacementMixture", "Per step, a mixture over the displacement since the step before.")
      .def_readonly("components", &DisplacementMixture::components)
      .def_property_readonly("anchor",
                             [](const py::object& self) {
                               const auto& d = self.cast<const DisplacementMixture&>();
                               return View(std::span(&d.anchor.x, 3), {3}, self);
                             })
      .def_readonly("sigma_floor", &DisplacementMixture::sigma_floor_m)
      .def_readonly("scale", &DisplacementMixture::scale_m)
      .def_property_readonly("weight", table(&DisplacementMixture::weight))
      .def_property_readonly("mean", table(&DisplacementMixture::mean))
      .def_property_readonly("sigma", table(&DisplacementMixture::sigma));

  const auto list = [](auto member) {
    return [member](const py::object& self) {
      const auto& values = self.cast<const ConformalRegions&>().*member;
      return View(std::span(values), {Size(values.size())}, self);
    };
  };
  py::class_<ConformalRegions>(
      m, "ConformalRegions", "Balls around the point path that hold the stated share of outcomes.")
      .def_property_readonly("level", list(&ConformalRegions::level))
      .def_property_readonly(
          "radius",
          [](const py::object& self) {
            const auto& c = self.cast<const ConformalRegions&>();
            const py::ssize_t levels = Size(c.level.size());
            return View(std::span(c.radius), {levels, Size(c.radius.size()) / levels}, self);
          })
      .def_property_readonly("tube", list(&ConformalRegions::tube))
      .def_property_readonly("shape", list(&ConformalRegions::shape));
}

py::array RecordingTimes(const Recording& r) {
  py::array_t<double> times(Size(r.samples.size()));
  double* out = times.mutable_data();
  for (const Observation& sample : r.samples) *out++ = DurationS(sample.t_ns);
  return times;
}

void BindRecording(py::module_& m) {
  py::class_<Recording>(m, "Recording", "One flight of one object, as it was tracked.")
      .def_readonly("id", &Recording::id)
      .def_readonly("category", &Recording::category)
      .def_readonly("configuration", &Recording::configuration)
      .def_readonly("object", &Recording::object)
      .def_readonly("frame", &Recording::frame)
      .def_property_readonly("source", [](const Recording& r) { return SourceName(r.source); })
      .def_readonly("noise", &Recording::noise_m)
      .def_property_readonly("t", &RecordingTimes, "(n,) seconds")
      .def_property_readonly(
          "t_ns",
          [](const py::object& self) {
            return StampView(self.cast<const Recording&>().samples, self);
          },
          "(n,) nanoseconds, exact")
      .def_property_readonly(
          "p",
          [](const py::object& self) {
            return PositionView(self.cast<const Recording&>().samples, self);
          },
          "(n, 3) metres")
      .def_property_readonly(
          "truth",
          [](const py::object& self) -> py::object {
            const auto& r = self.cast<const Recording&>();
            if (!r.has_truth()) return py::none();
            return View(std::span(r.truth), {Size(r.truth.size())}, self);
          },
          "(n, 3) without sensor noise, or None")
      .def("__len__", [](const Recording& r) { return r.samples.size(); })
      .def("__repr__", [](const Recording& r) {
        return "<aerocast.Recording " + r.id + ", " + std::to_string(r.samples.size()) +
               " samples>";
      });
}

}  // namespace

PYBIND11_MODULE(_native, m) {
  m.doc() = "The compiled half of the package aerocast.";
  m.attr("__version__") = std::string(Version());
  BindParts(m);
  BindForecast(m);
  BindForecaster(m);
  BindRecording(m);
  m.def("load", &Load, py::arg("path"), py::arg("weights") = "single", py::arg("threads") = 1,
        "Loads a trained model file; the file is checked completely.");
  m.def("classical", &Classical, py::arg("name"), py::arg("steps") = 50, py::arg("dt") = 0.1,
        "A forecaster that needs no training, one of classical_names().");
  m.def("classical_names", &ClassicalNames, "hold, cv, ca, ctrv, imm, replay");
  m.def("simd_targets", &SimdTargets, "Instruction sets networks can run with here, best first.");
  m.def(
      "read_recording",
      [](const std::filesystem::path& path) { return Unwrap(ReadRecording(path)); },
      py::arg("path"), "Reads a flight (CSV, docs/recording_format.md).");
}

}  // namespace aerocast::python
