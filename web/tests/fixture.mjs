// SPDX-License-Identifier: BSD-3-Clause
// Results as docs/results_format.md describes them, invented but plausible, with the awkward parts
// that real files may have. Same options, same object.

export const HOSTILE = "<img src=x onerror=alert(1)>";

const CATEGORIES = [
  "hover",
  "linear",
  "circle",
  "figure8",
  "helix",
  "zigzag",
  "spiral",
  "random",
  "staircase",
];
const LEVELS = [0.5, 0.8, 0.9, 0.95, 0.99];
const STEPS = 50;

// name, error after one second in metres, growth power, spread stated over spread true, has displacements
const MODELS = [
  ["hold", 0.46, 1.0, 0.9, false],
  ["cv", 0.42, 1.6, 0.55, false],
  ["ca", 0.55, 2.1, 0.35, false],
  ["ctrv", 0.3, 1.4, 0.7, false],
  ["imm", 0.36, 1.45, 0.85, false],
  ["knn", 0.07, 1.25, 1.3, false],
  ["paper", 0.2, 1.2, 0.4, true],
  ["plus", 0.072, 1.22, 0.98, false],
  [HOSTILE, 0.5, 1.1, 1.0, false],
];

const METRICS = [
  [
    "ade",
    "ADE",
    "m",
    "position",
    "point path",
    true,
    "Mean distance between the point path and the flown path, over all steps.",
  ],
  ["fde", "FDE", "m", "position", "point path", true, "Distance between the two at the last step."],
  [
    "ade_mode",
    "ADE",
    "m",
    "position",
    "most likely mode",
    true,
    "As ADE, of the mode with the largest weight.",
  ],
  [
    "min_ade_modes",
    "minADE@K",
    "m",
    "position",
    "modes",
    true,
    "ADE of the mode that turned out nearest.",
  ],
  [
    "min_ade_samples",
    "minADE@5",
    "m",
    "position",
    "joint samples",
    true,
    "ADE of the nearest of five sampled paths.",
  ],
  [
    "nll_position",
    "NLL",
    "nat",
    "position",
    "mixture",
    true,
    "Negative log density of the flown position, mean over steps.",
  ],
  [
    "nll_displacement",
    "NLL",
    "nat",
    "displacement",
    "mixture",
    true,
    "Negative log density of the flown displacement per step.",
  ],
  [
    "crps",
    "CRPS",
    "m",
    "position",
    "mixture",
    true,
    "Continuous ranked probability score, mean over the three axes.",
  ],
  ["energy", "Energy score", "m", "position", "draws", true, "Unbiased energy score of the draws."],
  [
    "ece_position",
    "Position ECE",
    "",
    "position",
    "own region",
    true,
    "Mean distance between empirical and nominal coverage over 5 … 95 %.",
  ],
  [
    "coverage_90",
    "Coverage 90",
    "",
    "position",
    "own region",
    false,
    "Share of flown positions inside the 90 % region.",
  ],
  [
    "entropy",
    "Mode entropy",
    "nat",
    "weights",
    "modes",
    null,
    "Entropy of the mode weights; neither direction is better.",
  ],
].map(([key, name, unit, space, of, lower_is_better, meaning]) => ({
  key,
  name,
  unit,
  space,
  of,
  lower_is_better,
  meaning,
}));

function random(seed) {
  let state = seed >>> 0;
  return () => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

// Share of a unit normal inside ±z by a logistic curve: near enough for pictures.
const inside = (z) => 2 / (1 + Math.exp(-1.702 * z)) - 1;
const reach = (share) => -Math.log(2 / (1 + share) - 1) / 1.702;
const range = (n) => Array.from({ length: n }, (_, i) => i);
const hash = (rng) =>
  range(64)
    .map(() => Math.floor(rng() * 16).toString(16))
    .join("");

function pitHistogram(rng, ratio, bias) {
  const shape = range(20).map((i) => {
    const u = (i + 0.5) / 20 - 0.5;
    return Math.max(
      0.05,
      1 + (1 / ratio - 1) * (12 * u * u - 1) * 0.7 + bias * u + 0.15 * (rng() - 0.5),
    );
  });
  const sum = shape.reduce((a, b) => a + b);
  return shape.map((share) => share / sum);
}

function group(rng, model, kind, name, flights, windows, factor) {
  const [, atOneSecond, power, ratio, displacement] = model;
  const error = range(STEPS).map(
    (i) => factor * atOneSecond * ((i + 1) / 10) ** power * (0.98 + 0.04 * rng()),
  );
  const ade = error.reduce((a, b) => a + b) / STEPS;
  const estimate = (value, spread = 0.12) => ({
    value,
    low: flights < 2 ? null : value - Math.abs(value) * spread * (0.8 + 0.4 * rng()),
    high: flights < 2 ? null : value + Math.abs(value) * spread * (0.8 + 0.4 * rng()),
  });
  const covered = (level, shift = 0) => Math.min(1, inside(reach(level) * ratio) + shift);
  const nothing = { value: null, low: null, high: null };
  return {
    kind,
    name,
    flights,
    windows,
    metrics: {
      ade: estimate(ade),
      fde: estimate(error[STEPS - 1]),
      ade_mode: estimate(ade * 1.04),
      min_ade_modes: displacement ? estimate(ade * 0.6) : nothing,
      min_ade_samples: estimate(ade * 0.7),
      nll_position: estimate(Math.log(ade) + 0.5 / (ratio * ratio)),
      nll_displacement: displacement ? estimate(-3.2 * factor) : nothing,
      crps: estimate(ade * 0.31),
      energy: estimate(ade * 0.74),
      ece_position: estimate(Math.abs(0.02 + 0.3 * Math.abs(Math.log(ratio))) / 2),
      coverage_90: estimate(covered(0.9), 0.04),
      entropy: estimate(0.3 + 0.5 * rng()),
    },
    error,
    horizons: [1, 2, 3, 4, 5].map((t_s) => ({
      t_s,
      error: error[10 * t_s - 1],
      sharpness_90: 1.9 * ratio * error[10 * t_s - 1],
      coverage: {
        level: LEVELS,
        region: LEVELS.map((level) => covered(level, 0.01 * (rng() - 0.5))),
        radial: LEVELS.map((level) => covered(level, 0.03 * (rng() - 0.5))),
        conformal:
          model[0] === "plus" ? { level: [0.5, 0.8, 0.9], ball: [0.52, 0.81, 0.912] } : null,
      },
      pit: {
        along: pitHistogram(rng, ratio, 0.8),
        across: pitHistogram(rng, ratio, 0),
        vertical: pitHistogram(rng, ratio, -0.3),
      },
    })),
    calibration: {
      nominal: range(19).map((i) => Number((0.05 * (i + 1)).toFixed(2))),
      empirical: range(19).map((i) => covered(0.05 * (i + 1))),
    },
    mode_use: displacement ? [0.55, 0.25, 0.12, 0.05, 0.03] : [1],
  };
}

function makeModel(rng, model) {
  const groups = [
    group(rng, model, "all", "all windows", 19, 4071, 1),
    group(rng, model, "category_average", "category average", 19, 4071, 1.1),
    ...CATEGORIES.map((name, i) =>
      group(rng, model, "category", name, i === 6 ? 1 : 2 + (i % 3), 120 + 97 * i, 0.25 + 0.22 * i),
    ),
    group(rng, model, "source", "real", 15, 2321, 0.9),
    group(rng, model, "source", "synthetic", 4, 1750, 1.15),
    group(rng, model, "group", "periodic", 9, 1800, 0.8),
  ];
  const learned = model[4] || model[0] === "plus";
  return {
    name: model[0],
    description: `Invented forecaster "${model[0]}" of the page's own tests`,
    fingerprint: learned ? hash(rng) : "",
    fitted_on: learned ? "train" : "",
    quality: { ok: 4000, short_history: 50, out_of_domain: 11, stale: 0, fallback: 10, none: 0 },
    seconds: 0.3 + 4 * rng(),
    groups,
  };
}

// A climbing circle; each model drifts off it by its error.
function makeExample(rng, models, category, index) {
  const radius = 1.2 + index,
    speed = 0.9 + 0.3 * index;
  const at = (t) => [
    radius * Math.cos((speed * t) / radius),
    radius * Math.sin((speed * t) / radius),
    1 + 0.12 * t,
  ];
  const path = (from, to, drift) =>
    range(to - from + 1).map((i) => {
      const t = (from + i) / 10,
        [x, y, z] = at(t);
      return [x + drift(t)[0], y + drift(t)[1], z + drift(t)[2]];
    });
  const points = Object.fromEntries(
    models.map(([name, atOneSecond, power]) => {
      const angle = 6.28 * rng(),
        climb = 0.3 * (rng() - 0.5);
      return [
        name,
        path(1, 50, (t) => {
          const d = atOneSecond * t ** power;
          return [d * Math.cos(angle), d * Math.sin(angle), d * climb];
        }),
      ];
    }),
  );
  return {
    flight: `B${index}_${category}_fast_rep1`,
    category,
    t0: 1772421800.75 + index,
    history: path(-20, 0, () => [0, 0, 0]),
    target: path(1, 50, () => [0, 0, 0]),
    points,
    forecasts: Object.fromEntries(
      models.map(([name], i) => [name, makeRest(points[name], i, index)]),
    ),
  };
}

// Besides the point path; every third model states a path only, every second has two modes.
function makeRest(point, model, index) {
  const veer = point.map(([x, y, z], i) => [x + 0.0008 * i * i, y, z + 0.01 * i]);
  const whole = { weight: 1, mean: point };
  const two = [
    { weight: 0.7, mean: point },
    { weight: 0.3, mean: veer },
  ];
  return {
    quality: index === 1 ? "short_history" : "ok",
    modes: model % 3 === 2 ? [] : model % 2 === 0 ? two : [whole],
    region_90:
      model % 3 === 2
        ? null
        : {
            from: model % 2 === 0 ? "conformal" : "draws",
            radius: point.map((_, i) => 0.01 * (i + 1)),
          },
  };
}

// A training that gets from a first drop to its floor, and overfits a little in the end.
function makeCurve(rng, name, { parameters, speed, floor, ade, note, validations = 24 }) {
  const train_windows = 98765;
  let lowest = Infinity;
  const points = range(validations).map((i) => {
    const seconds = 50 * (i + 1),
      windows = Math.round(speed * seconds),
      share = (i + 1) / 24;
    const train_nll = floor + 5 * Math.exp(-9 * share) - 0.5 * share + 0.03 * rng();
    const validation_nll = floor + 4.5 * Math.exp(-8 * share) + 0.35 * share * share + 0.05 * rng();
    const best = validation_nll < lowest;
    lowest = Math.min(lowest, validation_nll);
    return {
      windows,
      epochs: windows / train_windows,
      seconds,
      lr: 3e-4 * (1 - 0.9 * share),
      history: Math.min(20, 5 + 3 * i),
      train_loss: train_nll + 0.4,
      train_nll,
      validation_nll,
      validation_ade_m: ade + 0.06 * (validation_nll - floor) + 0.01 * rng(),
      best,
    };
  });
  return { name, note, parameters, train_windows, points };
}

// Trainings of two of the models and of others, one of them just begun and one without a validation.
function makeCurves(rng) {
  const budget = "the budget of 20 minutes is used up";
  return [
    makeCurve(rng, "paper", {
      parameters: 1234567,
      speed: 310,
      floor: -2.4,
      ade: 0.24,
      note: budget,
    }),
    makeCurve(rng, "plus", { parameters: 801234, speed: 905, floor: -3.1, ade: 0.2, note: budget }),
    makeCurve(rng, "gru", {
      parameters: 456789,
      speed: 640,
      floor: -2.1,
      ade: 0.27,
      note: "validation NLL has not improved for 8 validations",
      validations: 17,
    }),
    makeCurve(rng, HOSTILE, {
      parameters: 9000,
      speed: 2800,
      floor: -4.5,
      ade: 0.1,
      note: HOSTILE,
      validations: 1,
    }),
    makeCurve(rng, "paper", {
      parameters: 1,
      speed: 1,
      floor: 0,
      ade: 0,
      note: "",
      validations: 0,
    }),
  ];
}

export function makeResults({
  models = MODELS,
  examples = 3,
  comparisons = true,
  curves = true,
  seed = 1,
} = {}) {
  const rng = random(seed);
  const made = models.map((model) => makeModel(rng, model));
  const ade = (model) => model.groups[0].metrics.ade.value;
  const best = made.reduce((a, b) => (ade(b) < ade(a) ? b : a));
  return {
    format: "aerocast-evaluation",
    version: 1,
    program: "aerocast 0.1.0",
    protocol: {
      corpus: { name: "nanobench", hash: hash(rng), flights: 71, min_z: 0.3 },
      split: "flight",
      side: "test",
      split_hash: hash(rng),
      flights: 19,
      windows: 4071,
      window: {
        history_s: 2,
        min_history_s: 2,
        horizon_s: 5,
        dt_s: 0.1,
        stride: 1,
        max_gap_s: 0.25,
      },
      draws: 64,
      path_samples: 5,
      seed: 1,
      disturbance: { text: "noise 0.02 m (stated)", noise_m: 0.02 },
      interval: { level: 0.95, replicates: 1000, cluster: "flight", clusters: 19 },
    },
    metrics: METRICS,
    models: made,
    examples: ["circle", "helix", HOSTILE]
      .slice(0, examples)
      .map((name, i) => makeExample(rng, models, name, i)),
    comparisons: !comparisons
      ? []
      : made
          .filter((model) => model !== best)
          .map((model) => {
            const difference = ade(model) - ade(best),
              spread = 0.03 + 0.3 * difference;
            return {
              a: model.name,
              b: best.name,
              metric: "ade",
              mean_a: ade(model),
              mean_b: ade(best),
              difference,
              low: difference - spread,
              high: difference + spread,
              clusters: 19,
            };
          }),
    ...(curves ? { curves: makeCurves(rng) } : {}),
  };
}

export function manyModels(n) {
  return range(n).map((i) => [
    `model_${i}_with_a_rather_long_name_that_nobody_would_type`,
    0.1 + 0.03 * i,
    1.2,
    0.5 + 0.03 * i,
    i % 3 === 0,
  ]);
}

/** Results in which everything that may be absent is absent. */
export function sparseResults() {
  const results = makeResults({
    models: [MODELS[5]],
    examples: 0,
    comparisons: false,
    curves: false,
  });
  const [model] = results.models;
  model.groups = model.groups.slice(0, 1);
  const [all] = model.groups;
  for (const key of Object.keys(all.metrics)) {
    if (key === "crps") delete all.metrics[key];
    else if (key !== "ade") all.metrics[key] = { value: null, low: null, high: null };
  }
  all.metrics.ade.low = all.metrics.ade.high = null;
  Object.assign(all, { error: [], horizons: [], mode_use: [] });
  delete all.calibration;
  results.protocol.split_hash = null;
  results.protocol.corpus.min_z = null;
  return results;
}

const SLOT = '<script type="application/json" id="aerocast-results">null</script>';

/** The page with `results` in it, as `aerocast evaluate --report` writes it. */
export function embed(html, results) {
  const parts = html.split(SLOT);
  if (parts.length !== 2)
    throw new Error(
      `the page must hold the slot for the results once, not ${parts.length - 1} times`,
    );
  return parts.join(SLOT.replace("null", () => JSON.stringify(results).replaceAll("<", "\\u003c")));
}
