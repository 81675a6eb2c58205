# SPDX-License-Identifier: BSD-3-Clause
"""The Python package against the C++ library; run by tests/python_test.sh, which sets

AEROCAST_PRINT_FORECAST (the program that prints a forecast to the bit), AEROCAST_MODEL, AEROCAST_FLIGHT.
"""
import os
import subprocess
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from typing import Callable

import numpy as np
import numpy.typing as npt

import aerocast

MODEL = os.environ["AEROCAST_MODEL"]
FLIGHT = os.environ["AEROCAST_FLIGHT"]


def circle(n: int = 41) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    t = np.linspace(0.0, 2.0, n)
    return t, np.stack([10 * np.cos(0.5 * t), 10 * np.sin(0.5 * t), 30 + t], axis=1)


def numbers(forecast: aerocast.Forecast) -> list[float]:
    """In the order of the program."""
    rows, columns = [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]
    parts = [forecast.point, forecast.weights, forecast.means,
             forecast.covs[:, :, rows, columns], forecast.sample_paths(7, 3)]
    return [float(x) for part in parts for x in part.ravel()]


class ValuesTest(unittest.TestCase):
    def check_same_bits(self, name: str, forecaster: aerocast.Forecaster) -> None:
        flight = aerocast.read_recording(FLIGHT)
        for count in (len(flight), 100, 7, 1):
            lines = subprocess.run([os.environ["AEROCAST_PRINT_FORECAST"], name, FLIGHT, str(count)],
                                   check=True, capture_output=True, text=True).stdout.split()
            forecast = forecaster.predict(flight.t_ns[:count], flight.p[:count], flight.noise)
            self.assertEqual(forecast.t0_ns, int(lines[0]))
            self.assertEqual(forecast.quality, lines[1])
            self.assertEqual(numbers(forecast), [float.fromhex(x) for x in lines[2:]])

    def test_classical_forecasters_give_the_bits_of_cpp(self) -> None:
        for name in aerocast.classical_names():
            with self.subTest(name):
                self.check_same_bits(name, aerocast.classical(name))

    def test_a_network_gives_the_bits_of_cpp(self) -> None:
        self.check_same_bits(MODEL, aerocast.load(MODEL))
        self.check_same_bits(MODEL, aerocast.load(MODEL, threads=2))

    def test_the_bundled_networks_are_there(self) -> None:
        for name in ("plus", "plus-small"):
            self.check_same_bits(str(aerocast.bundled(name)), aerocast.load(aerocast.bundled(name)))

    def test_seconds_and_nanoseconds_are_the_same_instants(self) -> None:
        forecaster = aerocast.classical("imm")
        t, p = circle()
        ns = np.round(t * 1e9).astype(np.int64)
        self.assertEqual(numbers(forecaster.predict(t, p)), numbers(forecaster.predict(ns, p)))
        self.assertEqual(numbers(forecaster.predict(list(t), p.tolist())),
                         numbers(forecaster.predict(t, p)))
        reversed_view = p[::-1][::-1]  # strides are respected
        self.assertEqual(numbers(forecaster.predict(t, np.asfortranarray(reversed_view))),
                         numbers(forecaster.predict(t, p)))

    def test_a_batch_is_the_same_as_one_by_one(self) -> None:
        t, p = circle()
        tracks = [(t[:n], p[:n]) for n in (0, 1, 5, 20, 41)]
        for forecaster in (aerocast.classical("ctrv"), aerocast.load(MODEL)):
            batch = forecaster.predict_batch(tracks, noise=0.01, ids=list("abcde"))
            self.assertEqual([f.id for f in batch], list("abcde"))
            for forecast, (t_n, p_n) in zip(batch, tracks):
                self.assertEqual(numbers(forecast), numbers(forecaster.predict(t_n, p_n, 0.01)))
        self.assertEqual(aerocast.classical("cv").predict_batch([]), [])


class ForecastTest(unittest.TestCase):
    def test_shapes(self) -> None:
        t, p = circle()
        f = aerocast.classical("imm", steps=30, dt=0.2).predict(t, p, id="gull")
        self.assertEqual((f.id, f.steps, f.modes, f.dt, f.t0), ("gull", 30, 3, 0.2, 2.0))
        self.assertEqual(f.point.shape, (30, 3))
        self.assertEqual(f.weights.shape, (3,))
        self.assertEqual(f.means.shape, (3, 30, 3))
        self.assertEqual(f.covs.shape, (3, 30, 3, 3))
        self.assertEqual(f.mixture_mean().shape, (30, 3))
        self.assertEqual(f.mixture_cov().shape, (30, 3, 3))
        self.assertEqual(f.sample_paths(1, 4).shape, (4, 30, 3))
        self.assertAlmostEqual(f.times[0], 2.2)
        self.assertAlmostEqual(float(f.weights.sum()), 1.0)
        self.assertTrue((np.linalg.eigvalsh(f.covs) > 0).all())
        self.assertIsNone(f.displacement)
        self.assertIsNone(f.conformal)

    def test_the_mixture_of_a_network(self) -> None:
        forecaster = aerocast.load(MODEL)
        f = forecaster.predict(*circle())
        d = f.displacement
        assert d is not None
        shape = (f.steps, d.components)
        self.assertEqual((d.weight.shape, d.mean.shape, d.sigma.shape),
                         (shape, shape + (3,), shape + (3,)))
        np.testing.assert_allclose(d.weight.sum(axis=1), 1.0)
        np.testing.assert_array_equal(d.anchor, circle()[1][-1])
        # Its one position mode sums the steps' means (include/aerocast/forecast.h).
        step = (d.weight[:, :, None] * d.mean).sum(axis=1)
        np.testing.assert_allclose((d.anchor + step.cumsum(axis=0))[None], f.means)
        self.assertEqual(len(forecaster.fingerprint), 64)

    def test_views_outlive_their_forecast_and_cannot_be_written(self) -> None:
        t, p = circle()
        f = aerocast.classical("cv").predict(t, p)
        point, before = f.point, f.point.copy()
        with self.assertRaises(ValueError):
            point[0, 0] = 1.0
        del f
        aerocast.classical("cv").predict_batch([(t, -p)] * 50)  # would reuse the memory
        np.testing.assert_array_equal(point, before)

    def test_age(self) -> None:
        f = aerocast.classical("cv").predict(*circle())
        f.ask_at(2.25)
        self.assertEqual((f.age, f.quality), (0.25, "ok"))
        f.ask_at(np.int64(3_000_000_000))
        self.assertEqual((f.age, f.quality), (1.0, "stale"))

    def test_recordings(self) -> None:
        flight = aerocast.read_recording(FLIGHT)
        self.assertEqual((flight.id, flight.noise, flight.source), ("example", 0.005, "synthetic"))
        self.assertEqual(flight.p.shape, (len(flight), 3))
        np.testing.assert_allclose(flight.t, flight.t_ns * 1e-9)
        np.testing.assert_array_equal(flight.p[0], [-1.297538, 1.1943419, 2.0272633])
        assert flight.truth is not None
        self.assertEqual(flight.truth.shape, flight.p.shape)

    def test_faulty_samples_are_skipped(self) -> None:
        t, p = circle()
        self.assertEqual(aerocast.classical("cv").predict([], []).quality, "none")
        p[20] = np.nan
        f = aerocast.classical("cv").predict(t, p)
        self.assertTrue(np.isfinite(f.point).all())


class ErrorsTest(unittest.TestCase):
    def refuses(self, sentence: str, call: Callable[[], object]) -> None:
        with self.assertRaises(ValueError) as caught:
            call()
        self.assertEqual(str(caught.exception), sentence)

    def test_an_unknown_network(self) -> None:
        self.refuses("no bundled network is called 'minus'; known are plus, plus-small",
                     lambda: aerocast.bundled("minus"))

    def test_shapes_and_types(self) -> None:
        f = aerocast.classical("cv")
        t, p = circle(4)
        self.refuses("p has shape (3, 3), expected (4, 3): one position for each stamp",
                     lambda: f.predict(t, p[1:]))
        self.refuses("p has shape (4, 2), expected (4, 3): one position for each stamp",
                     lambda: f.predict(t, p[:, :2]))
        self.refuses("t has shape (2, 2), expected (n,)", lambda: f.predict(t.reshape(2, 2), p))
        types = "expected float64 seconds or a numpy array of int64 nanoseconds"
        self.refuses(f"t is of type float32, {types}",
                     lambda: f.predict(t.astype(np.float32), p))  # type: ignore[arg-type]
        self.refuses(f"t is of type int64, {types}", lambda: f.predict([0, 1, 2, 3], p))
        self.refuses("p is of type complex128, expected float64 metres",
                     lambda: f.predict(t, p.astype(complex)))
        self.refuses("p is not an array of numbers", lambda: f.predict(t, [[1, 2], [1, 2, 3]]))
        self.refuses("t[1] is nan, expected seconds within 9.2e9 of 0",
                     lambda: f.predict([0.0, np.nan], [[0, 0, 0], [0, 0, 0]]))
        self.refuses("noise is nan, expected metres, 0 when unknown",
                     lambda: f.predict(t, p, noise=np.nan))

    def test_batches_name_the_track(self) -> None:
        f = aerocast.classical("cv")
        t, p = circle(4)
        self.refuses("track 1: p has shape (3, 3), expected (4, 3): one position for each stamp",
                     lambda: f.predict_batch([(t, p), (t, p[1:])]))
        self.refuses("track 0 is not a pair (t, p)",
                     lambda: f.predict_batch([(t, p, p)]))  # type: ignore[list-item]
        self.refuses("ids has 2 entries, expected 1: one for each track",
                     lambda: f.predict_batch([(t, p)], ids=["a", "b"]))

    def test_names_and_files(self) -> None:
        self.refuses("no forecaster is called 'cvx'; known are hold, cv, ca, ctrv, imm, replay",
                     lambda: aerocast.classical("cvx"))
        self.refuses("weights is 'double', expected 'single' or 'half'",
                     lambda: aerocast.load(MODEL, weights="double"))  # type: ignore[arg-type]
        self.refuses("threads is 0, expected 1 to 64", lambda: aerocast.load(MODEL, threads=0))
        with self.assertRaises(FileNotFoundError):
            aerocast.load("/nowhere/at/all.safetensors")
        with self.assertRaises(FileNotFoundError):
            aerocast.read_recording("/nowhere/at/all.csv")
        with self.assertRaisesRegex(ValueError, "flight.csv: "):
            aerocast.load(FLIGHT)


class ThreadsTest(unittest.TestCase):
    def test_many_threads_share_a_forecaster(self) -> None:
        t, p = circle()
        for forecaster in (aerocast.classical("imm"), aerocast.load(MODEL, threads=2)):
            expected = [numbers(forecaster.predict(t[:n], p[:n])) for n in range(1, 42)]
            with ThreadPoolExecutor(8) as pool:
                for _ in range(5):
                    found = pool.map(lambda n: forecaster.predict(t[:n], p[:n]), range(1, 42))
                    self.assertEqual([numbers(f) for f in found], expected)

    def longest_pause(self, work: Callable[[], object]) -> float:
        """How long this thread stood still at a time, as a share of the other's one call."""
        began, ended = threading.Event(), threading.Event()
        took: list[float] = []

        def run() -> None:
            began.set()
            start = time.perf_counter()
            work()
            took.append(time.perf_counter() - start)
            ended.set()

        thread = threading.Thread(target=run)
        last, pause = time.perf_counter(), 0.0
        thread.start()
        began.wait()
        while not ended.is_set():
            now = time.perf_counter()
            last, pause = now, max(pause, now - last)
        pause = max(pause, time.perf_counter() - last)
        thread.join()
        return pause / took[0]

    def test_other_threads_go_on_while_it_computes(self) -> None:
        forecaster = aerocast.classical("imm")
        t, p = circle(5001)
        tracks = [(t, p)] * 400
        forecast = forecaster.predict(t, p)
        for work in (lambda: forecaster.predict_batch(tracks),
                     lambda: forecast.sample_paths(1, 100_000)):
            # A busy machine may stop this thread too, but not every time.
            shares = (self.longest_pause(work) for _ in range(10))
            self.assertTrue(any(share < 0.5 for share in shares))


if __name__ == "__main__":
    unittest.main()
