# SPDX-License-Identifier: BSD-3-Clause
"""Calibrated forecasts of non-cooperative flying obstacles.

    import aerocast

    forecaster = aerocast.load("paper.safetensors")      # or aerocast.classical("imm")
    forecast = forecaster.predict(t, p)                  # (n,) seconds, (n, 3) metres
    forecast.point                                       # (50, 3): the next five seconds
    forecast.weights, forecast.means, forecast.covs      # the distribution around it

Positions are metres in a world frame that is fixed to the ground, z up. Stamps are float64 seconds
or int64 nanoseconds of any clock. A forecaster may be shared by threads.
"""
from ._native import (
    ConformalRegions,
    DisplacementMixture,
    Forecast,
    Forecaster,
    Recording,
    __version__,
    classical,
    classical_names,
    load,
    read_recording,
    simd_targets,
)

__all__ = [
    "ConformalRegions",
    "DisplacementMixture",
    "Forecast",
    "Forecaster",
    "Recording",
    "__version__",
    "classical",
    "classical_names",
    "load",
    "read_recording",
    "simd_targets",
]
