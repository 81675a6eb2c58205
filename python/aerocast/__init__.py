# SPDX-License-Identifier: BSD-3-Clause
"""Calibrated forecasts of non-cooperative flying obstacles.

    import aerocast

    forecaster = aerocast.load(aerocast.bundled())       # or a file of yours, or classical("imm")
    forecast = forecaster.predict(t, p)                  # (n,) seconds, (n, 3) metres
    forecast.point                                       # (50, 3): the next five seconds
    forecast.weights, forecast.means, forecast.covs      # the distribution around it

Positions are metres in a world frame that is fixed to the ground, z up. Stamps are float64 seconds
or int64 nanoseconds of any clock. A forecaster may be shared by threads.
"""
from pathlib import Path

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


def bundled(name: str = "plus") -> Path:
    """The file of a network that comes with the package: plus or plus-small."""
    models = Path(__file__).parent / "models"
    file = models / f"aerocast-{name}.safetensors"
    if not file.exists():
        known = sorted(f.stem.removeprefix("aerocast-") for f in models.glob("*.safetensors"))
        raise ValueError(f"no bundled network is called '{name}'; known are {', '.join(known)}")
    return file


__all__ = [
    "ConformalRegions",
    "DisplacementMixture",
    "Forecast",
    "Forecaster",
    "Recording",
    "__version__",
    "bundled",
    "classical",
    "classical_names",
    "load",
    "read_recording",
    "simd_targets",
]
