# SPDX-License-Identifier: BSD-3-Clause
"""How a recorded flight may go on: 01_forecast.py FLIGHT.csv [MODEL.safetensors]"""
import sys

import numpy as np

import aerocast


def main() -> int:
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    flight = aerocast.read_recording(sys.argv[1])
    forecaster = aerocast.load(sys.argv[2]) if len(sys.argv) == 3 else aerocast.classical("imm")

    # One forecast, from all samples up to the end.
    forecast = forecaster.predict(flight.t_ns, flight.p, noise=flight.noise, id=flight.id)
    print(f"{forecast.id} by {forecaster.name} from {forecast.t0:.2f} s on: {forecast.quality}")
    for weight, mean, cov in zip(forecast.weights, forecast.means, forecast.covs):
        sigma = np.sqrt(np.diag(cov[-1]))
        print(f"  {weight:6.1%} to {mean[-1].round(2)} m, 1 sigma {sigma.round(2)} m")

    # Whole paths: how likely does it come near a place within the horizon?
    paths = forecast.sample_paths(seed=1, n=1000)
    place = flight.p[-1] + [0.0, 3.0, 0.0]
    close = (np.linalg.norm(paths - place, axis=2) < 1.0).any(axis=1)
    print(f"  within 1 m of {place.round(2)}: {close.mean():.1%}")

    # Many at once, one second apart along the flight: cheaper than one by one for networks.
    ends = np.arange(40, len(flight), 20)
    tracks = [(flight.t_ns[:end], flight.p[:end]) for end in ends]
    batch = forecaster.predict_batch(tracks, noise=flight.noise)
    ahead = np.array([f.point[9] for f in batch[:-1]])  # index 9 is one second after t0
    error = np.linalg.norm(ahead - flight.p[ends[1:] - 1], axis=1)
    print(f"  {len(batch)} forecasts along the flight, {error.mean():.2f} m off after one second")
    return 0


if __name__ == "__main__":
    sys.exit(main())
