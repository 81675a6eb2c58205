// SPDX-License-Identifier: BSD-3-Clause
// The results file (docs/results_format.md) as the page uses it. Reading it here, field by field,
// means that nothing behind this file meets a missing part or a value of the wrong type.

export type Maybe = number | null;
export type Point = [number, number, number];

export interface Metric {
  key: string;
  name: string;
  unit: string;
  space: string;
  of: string;
  meaning: string;
  lowerIsBetter: boolean | null; // null: neither direction is better
}
export interface Estimate {
  value: Maybe;
  low: Maybe;
  high: Maybe;
}

export const REGIONS = ["region", "radial", "conformal"] as const;
export const DIRECTIONS = ["along", "across", "vertical"] as const;
export interface Horizon {
  t: number;
  error: Maybe;
  sharpness90: Maybe;
  coverage: Record<(typeof REGIONS)[number], Map<number, Maybe>>; // stated level -> empirical share
  pit: Record<(typeof DIRECTIONS)[number], number[]>;
}
export interface Group {
  key: string;
  kind: string;
  name: string;
  flights: Maybe;
  windows: Maybe;
  metrics: Map<string, Estimate>;
  error: Maybe[];
  horizons: Horizon[];
  calibration: { nominal: number; empirical: number }[];
  modeUse: number[];
}
/** What has a line in a chart; the index says how it looks. */
export interface Line {
  index: number;
  name: string;
}
export interface Model extends Line {
  description: string;
  fingerprint: string;
  fittedOn: string;
  quality: Map<string, Maybe>;
  seconds: Maybe;
  groups: Map<string, Group>;
}
export interface ExampleForecast {
  quality: string;
  point: Point[];
  modes: { weight: number; mean: Point[] }[]; // heaviest first
  regionFrom: string; // "conformal", "draws", or empty
  radius90: number[]; // around the point path; empty without a distribution
}
export interface Example {
  flight: string;
  category: string;
  t0: Maybe;
  history: Point[];
  target: Point[];
  forecasts: Map<string, ExampleForecast>;
}
export interface Comparison {
  a: string;
  b: string;
  metric: string;
  meanA: Maybe;
  meanB: Maybe;
  difference: Maybe;
  low: Maybe;
  high: Maybe;
  clusters: Maybe;
}
export interface CurvePoint {
  windows: number;
  epochs: Maybe;
  seconds: number;
  lr: Maybe;
  history: Maybe;
  trainNll: Maybe;
  nll: Maybe;
  ade: Maybe;
  best: boolean;
}
/** How a training went. It looks like the model of its name, or like no model. */
export interface Curve extends Line {
  note: string;
  parameters: Maybe;
  points: CurvePoint[];
}
export interface Protocol {
  corpus: { name: string; hash: string; flights: Maybe; minZ: Maybe };
  split: string;
  side: string;
  splitHash: string;
  flights: Maybe;
  windows: Maybe;
  window: {
    history: Maybe;
    minHistory: Maybe;
    horizon: Maybe;
    dt: Maybe;
    stride: Maybe;
    maxGap: Maybe;
  };
  draws: Maybe;
  pathSamples: Maybe;
  seed: Maybe;
  disturbance: string; // empty: none
  interval: { level: number; replicates: Maybe; cluster: string; clusters: Maybe };
}
export interface Results {
  program: string;
  protocol: Protocol;
  metrics: Metric[];
  models: Model[];
  groups: { key: string; kind: string; name: string }[]; // of all models, in order of first appearance
  examples: Example[];
  comparisons: Comparison[];
  curves: Curve[];
}

// A Map, because a key such as "__proto__" must stay a key.
type Fields = Map<string, unknown>;
const fields = (x: unknown): Fields =>
  new Map(x !== null && typeof x === "object" && !Array.isArray(x) ? Object.entries(x) : []);
const list = (x: unknown): unknown[] => (Array.isArray(x) ? x : []);
const num = (x: unknown): Maybe => (typeof x === "number" && Number.isFinite(x) ? x : null);
const str = (x: unknown): string => (typeof x === "string" ? x : "");
const isNumber = (x: Maybe): x is number => x !== null;
const numbers = (x: unknown): number[] => list(x).map(num).filter(isNumber);
const points = (x: unknown): Point[] =>
  list(x)
    .map(numbers)
    .filter((p): p is Point => p.length === 3);

function readMetric(x: unknown): Metric {
  const f = fields(x);
  const better = f.get("lower_is_better");
  return {
    key: str(f.get("key")),
    name: str(f.get("name")) || str(f.get("key")),
    unit: str(f.get("unit")),
    space: str(f.get("space")),
    of: str(f.get("of")),
    meaning: str(f.get("meaning")),
    lowerIsBetter: typeof better === "boolean" ? better : null,
  };
}

function readEstimate(x: unknown): Estimate {
  const f = fields(x);
  return { value: num(f.get("value")), low: num(f.get("low")), high: num(f.get("high")) };
}

function levels(level: unknown, share: unknown): Map<number, Maybe> {
  const shares = list(share);
  return new Map(numbers(level).map((l, i) => [l, num(shares[i])]));
}

function readHorizon(x: unknown): Horizon {
  const f = fields(x);
  const coverage = fields(f.get("coverage"));
  const conformal = fields(coverage.get("conformal"));
  const pit = fields(f.get("pit"));
  return {
    t: num(f.get("t_s")) ?? 0,
    error: num(f.get("error")),
    sharpness90: num(f.get("sharpness_90")),
    coverage: {
      region: levels(coverage.get("level"), coverage.get("region")),
      radial: levels(coverage.get("level"), coverage.get("radial")),
      conformal: levels(conformal.get("level"), conformal.get("ball")),
    },
    pit: {
      along: numbers(pit.get("along")),
      across: numbers(pit.get("across")),
      vertical: numbers(pit.get("vertical")),
    },
  };
}

function readGroup(x: unknown): Group {
  const f = fields(x);
  const kind = str(f.get("kind")),
    name = str(f.get("name"));
  const calibration = fields(f.get("calibration"));
  const empirical = levels(calibration.get("nominal"), calibration.get("empirical"));
  return {
    key: `${kind}:${name}`,
    kind,
    name,
    flights: num(f.get("flights")),
    windows: num(f.get("windows")),
    metrics: new Map(
      [...fields(f.get("metrics"))].map(([key, value]) => [key, readEstimate(value)]),
    ),
    error: list(f.get("error")).map(num),
    horizons: list(f.get("horizons")).map(readHorizon),
    calibration: [...empirical].flatMap(([nominal, share]) =>
      share === null ? [] : [{ nominal, empirical: share }],
    ),
    modeUse: numbers(f.get("mode_use")),
  };
}

function readModel(x: unknown, index: number): Model {
  const f = fields(x);
  return {
    index,
    name: str(f.get("name")) || `(model ${index + 1})`,
    description: str(f.get("description")),
    fingerprint: str(f.get("fingerprint")),
    fittedOn: str(f.get("fitted_on")),
    quality: new Map([...fields(f.get("quality"))].map(([flag, count]) => [flag, num(count)])),
    seconds: num(f.get("seconds")),
    groups: new Map(
      list(f.get("groups"))
        .map(readGroup)
        .map((group) => [group.key, group]),
    ),
  };
}

function readExampleForecast(path: unknown, rest: unknown): ExampleForecast {
  const f = fields(rest);
  const region = fields(f.get("region_90"));
  return {
    quality: str(f.get("quality")) || "ok",
    point: points(path),
    modes: list(f.get("modes"))
      .map(fields)
      .map((mode) => ({ weight: num(mode.get("weight")) ?? 0, mean: points(mode.get("mean")) })),
    regionFrom: str(region.get("from")),
    radius90: numbers(region.get("radius")),
  };
}

function readExample(x: unknown): Example {
  const f = fields(x);
  const rest = fields(f.get("forecasts"));
  return {
    flight: str(f.get("flight")),
    category: str(f.get("category")),
    t0: num(f.get("t0")),
    history: points(f.get("history")),
    target: points(f.get("target")),
    forecasts: new Map(
      [...fields(f.get("points"))].map(([model, path]) => [
        model,
        readExampleForecast(path, rest.get(model)),
      ]),
    ),
  };
}

function readComparison(x: unknown): Comparison {
  const f = fields(x);
  return {
    a: str(f.get("a")),
    b: str(f.get("b")),
    metric: str(f.get("metric")),
    meanA: num(f.get("mean_a")),
    meanB: num(f.get("mean_b")),
    difference: num(f.get("difference")),
    low: num(f.get("low")),
    high: num(f.get("high")),
    clusters: num(f.get("clusters")),
  };
}

function readCurvePoint(x: unknown): CurvePoint {
  const f = fields(x);
  return {
    windows: num(f.get("windows")) ?? 0,
    epochs: num(f.get("epochs")),
    seconds: num(f.get("seconds")) ?? 0,
    lr: num(f.get("lr")),
    history: num(f.get("history")),
    trainNll: num(f.get("train_nll")),
    nll: num(f.get("validation_nll")),
    ade: num(f.get("validation_ade_m")),
    best: f.get("best") === true,
  };
}

function readCurves(x: unknown, models: Model[]): Curve[] {
  const taken = new Set<number>();
  return list(x).map((item, i) => {
    const f = fields(item);
    const name = str(f.get("name")) || `(run ${i + 1})`;
    const model = models.find((each) => each.name === name && !taken.has(each.index));
    const index = model?.index ?? models.length + i;
    taken.add(index);
    return {
      index,
      name,
      note: str(f.get("note")),
      parameters: num(f.get("parameters")),
      points: list(f.get("points")).map(readCurvePoint),
    };
  });
}

function readProtocol(x: unknown): Protocol {
  const f = fields(x);
  const corpus = fields(f.get("corpus")),
    window = fields(f.get("window")),
    interval = fields(f.get("interval"));
  return {
    corpus: {
      name: str(corpus.get("name")),
      hash: str(corpus.get("hash")),
      flights: num(corpus.get("flights")),
      minZ: num(corpus.get("min_z")),
    },
    split: str(f.get("split")),
    side: str(f.get("side")),
    splitHash: str(f.get("split_hash")),
    flights: num(f.get("flights")),
    windows: num(f.get("windows")),
    window: {
      history: num(window.get("history_s")),
      minHistory: num(window.get("min_history_s")),
      horizon: num(window.get("horizon_s")),
      dt: num(window.get("dt_s")),
      stride: num(window.get("stride")),
      maxGap: num(window.get("max_gap_s")),
    },
    draws: num(f.get("draws")),
    pathSamples: num(f.get("path_samples")),
    seed: num(f.get("seed")),
    disturbance: str(fields(f.get("disturbance")).get("text")),
    interval: {
      level: num(interval.get("level")) ?? 0.95,
      replicates: num(interval.get("replicates")),
      cluster: str(interval.get("cluster")) || "flight",
      clusters: num(interval.get("clusters")),
    },
  };
}

/** Null when nothing is embedded; an Error that says what is wrong when it is no results file. */
export function readResults(text: string): Results | null {
  const json: unknown = JSON.parse(text);
  if (json === null) return null;
  const f = fields(json);
  if (f.get("format") !== "aerocast-evaluation" || f.get("version") !== 1) {
    throw new Error('expected "format": "aerocast-evaluation" and "version": 1');
  }
  const models = list(f.get("models")).map(readModel);
  const groups = new Map(
    models
      .flatMap((model) => [...model.groups.values()])
      .map(({ key, kind, name }) => [key, { key, kind, name }]),
  );
  return {
    program: str(f.get("program")),
    protocol: readProtocol(f.get("protocol")),
    metrics: list(f.get("metrics")).map(readMetric),
    models,
    groups: [...groups.values()],
    examples: list(f.get("examples")).map(readExample),
    comparisons: list(f.get("comparisons")).map(readComparison),
    curves: readCurves(f.get("curves"), models),
  };
}

/** The metric the report ranks by: ADE, or the first one of a file that has none. */
export function leadMetric(results: Results): Metric | null {
  return results.metrics.find((metric) => metric.key === "ade") ?? results.metrics[0] ?? null;
}

/** Best first; `null` values last. */
export function byValue(better: boolean | null, a: Maybe, b: Maybe): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  return better === false ? b - a : a - b;
}

/** Models from best to worst in the lead metric over all windows. */
export function ranked(results: Results): Model[] {
  const metric = leadMetric(results);
  const all = results.groups.find((group) => group.kind === "all") ?? results.groups[0];
  if (!metric || !all) return results.models;
  const value = (model: Model) => model.groups.get(all.key)?.metrics.get(metric.key)?.value ?? null;
  return [...results.models].sort((a, b) => byValue(metric.lowerIsBetter, value(a), value(b)));
}
