# SPDX-License-Identifier: BSD-3-Clause
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float64]
_Stamps = Union[npt.NDArray[np.float64], npt.NDArray[np.int64], Sequence[float]]
_Positions = Union[npt.NDArray[np.float64], Sequence[Sequence[float]]]
_Quality = Literal["ok", "short_history", "out_of_domain", "stale", "fallback", "none"]

__version__: str

class DisplacementMixture:
    """Per step, a mixture over the displacement since the step before (the paper's networks)."""

    @property
    def components(self) -> int: ...
    @property
    def anchor(self) -> _Floats: ...  # (3,): where the first displacement starts
    @property
    def sigma_floor(self) -> float: ...  # metres: the smallest sigma the forecaster can give
    @property
    def scale(self) -> float: ...  # metres: the network's unit
    @property
    def weight(self) -> _Floats: ...  # (S, components), each step sums to 1
    @property
    def mean(self) -> _Floats: ...  # (S, components, 3), metres
    @property
    def sigma(self) -> _Floats: ...  # (S, components, 3), metres

class ConformalRegions:
    """Balls around the point path that hold the stated share of outcomes."""

    @property
    def level(self) -> _Floats: ...  # (L,), e.g. 0.5, 0.9
    @property
    def radius(self) -> _Floats: ...  # (L, S), metres
    @property
    def tube(self) -> _Floats: ...  # (L,), or empty; the tube's radius at i is tube[l] * shape[i]
    @property
    def shape(self) -> _Floats: ...  # (S,), metres, or empty

class Forecast:
    """Where one object will be, as a mixture of Gaussians in the world frame.

    S steps, K modes; index i of every array is the position at t0 + (i + 1) * dt. Arrays are
    read-only views unless noted. Without one usable observation quality is "none" and S is 0.
    """

    @property
    def id(self) -> str: ...
    @property
    def t0(self) -> float: ...  # seconds: the stamp of the newest observation used
    @property
    def t0_ns(self) -> int: ...  # the same, exact
    @property
    def dt(self) -> float: ...
    @property
    def quality(self) -> _Quality: ...
    @property
    def age(self) -> float: ...  # seconds after t0 at which it was asked for
    @property
    def steps(self) -> int: ...
    @property
    def modes(self) -> int: ...
    @property
    def times(self) -> _Floats: ...  # (S,) seconds, a new array
    @property
    def point(self) -> _Floats: ...  # (S, 3), metres: the single best guess
    @property
    def weights(self) -> _Floats: ...  # (K,), sum to 1: one for each way the future may go
    @property
    def means(self) -> _Floats: ...  # (K, S, 3), metres
    @property
    def covs(self) -> _Floats: ...  # (K, S, 3, 3), square metres, a new array
    @property
    def displacement(self) -> Optional[DisplacementMixture]: ...
    @property
    def conformal(self) -> Optional[ConformalRegions]: ...
    @property
    def mode_entropy(self) -> float: ...  # nats; high where the future branches
    @property
    def most_likely_mode(self) -> int: ...
    def mixture_mean(self) -> _Floats:
        """(S, 3): mean of the whole mixture."""
    def mixture_cov(self) -> _Floats:
        """(S, 3, 3): covariance of the whole mixture."""
    def sample_paths(self, seed: int, n: int) -> _Floats:
        """(n, S, 3): whole paths drawn from the distribution; the same seed, the same paths."""
    def ask_at(self, t_now: Union[float, int, np.integer[Any]], stale_after: float = 0.5) -> None:
        """Says that the forecast is used at t_now: a float is seconds, an int nanoseconds.

        Sets age, and quality to "stale" when that is more than stale_after seconds."""

class Forecaster:
    """Anything that forecasts; made by load() or classical().

    It never changes and may be called from any number of threads at once: the interpreter's lock
    is released while it computes. The same history gives the same bits.
    """

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...  # hash of what was fitted or trained, "" when nothing was
    @property
    def history(self) -> float: ...  # seconds it looks back
    @property
    def dt(self) -> float: ...
    @property
    def steps(self) -> int: ...
    @property
    def modes(self) -> int: ...
    @property
    def threads(self) -> int: ...
    def predict(self, t: _Stamps, p: _Positions, noise: float = 0.0, id: str = "") -> Forecast:
        """Forecasts one object.

        t is (n,), float64 seconds or a numpy array of int64 nanoseconds, oldest first; p is (n, 3)
        metres; noise is the sigma of an observation per axis in metres, 0 when unknown. Wrong
        shapes and types raise ValueError; faulty samples (NaN, stamps out of order) are skipped.
        """
    def predict_batch(
        self,
        tracks: Sequence[Tuple[_Stamps, _Positions]],
        noise: float = 0.0,
        ids: Optional[Sequence[str]] = None,
    ) -> list[Forecast]:
        """Forecasts several objects at once, with the same bits as one by one."""

class Recording:
    """One flight of one object, as it was tracked."""

    @property
    def id(self) -> str: ...
    @property
    def category(self) -> str: ...
    @property
    def configuration(self) -> str: ...
    @property
    def object(self) -> str: ...
    @property
    def frame(self) -> str: ...
    @property
    def source(self) -> Literal["real", "synthetic"]: ...
    @property
    def noise(self) -> float: ...  # metres, 0: unknown
    @property
    def t(self) -> _Floats: ...  # (n,) seconds, a new array
    @property
    def t_ns(self) -> npt.NDArray[np.int64]: ...  # (n,) the same, exact
    @property
    def p(self) -> _Floats: ...  # (n, 3), metres
    @property
    def truth(self) -> Optional[_Floats]: ...  # (n, 3) without sensor noise
    def __len__(self) -> int: ...

def load(
    path: Union[str, PathLike[str]],
    weights: Literal["single", "half"] = "single",
    threads: int = 1,
) -> Forecaster:
    """Loads a trained model file, which is checked completely.

    weights is how they are kept in memory; threads is how many work together on each call.
    Raises FileNotFoundError, OSError, or ValueError with one sentence that says what is wrong.
    """

def bundled(name: str = "plus") -> Path:
    """The file of a network that comes with the package: plus or plus-small."""

def classical(name: str, steps: int = 50, dt: float = 0.1) -> Forecaster:
    """A forecaster that needs no training, one of classical_names()."""

def classical_names() -> list[str]:
    """hold, cv, ca, ctrv, imm, replay."""

def simd_targets() -> list[str]:
    """The instruction sets this CPU can run networks with, best first; the last is "scalar"."""

def read_recording(path: Union[str, PathLike[str]]) -> Recording:
    """Reads a flight: CSV with the columns t,x,y,z (docs/recording_format.md)."""
