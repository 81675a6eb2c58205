// SPDX-License-Identifier: BSD-3-Clause
// node report.spec.mjs [REPORT.html [RESULTS.json]] [--screenshot DIR]
// Opens a report in Chromium and compares what it shows with the results embedded in it. Without a
// report, tests the built page on invented results.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { embed, HOSTILE, makeResults, manyModels, sparseResults } from "./fixture.mjs";

const {
  values: options,
  positionals: [reportPath, resultsPath],
} = parseArgs({ allowPositionals: true, options: { screenshot: { type: "string" } } });

let passed = 0,
  failed = 0,
  scope = "";
function check(what, ok, detail = "") {
  if (ok) passed++;
  else {
    failed++;
    console.log(`FAILED ${scope}: ${what}${detail === "" ? "" : `: ${detail}`}`);
  }
}
const equal = (what, actual, expected) =>
  check(
    what,
    isDeepStrictEqual(actual, expected),
    `${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`,
  );

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});

/** Runs `test` on a fresh page; whatever the page complains about or asks the network for is a failure. */
async function open(file, test, settings = {}, before = () => {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...settings });
  const page = await context.newPage();
  await page.addInitScript(before);
  page.setDefaultTimeout(20000);
  const url = pathToFileURL(file).href,
    complaints = [];
  page.on(
    "console",
    (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()),
  );
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (request.url() !== url && !request.url().startsWith("data:"))
      complaints.push(`request ${request.url()}`);
  });
  try {
    await page.goto(url);
    await page.waitForSelector("#page > *");
    await test(page);
  } catch (error) {
    check("runs to its end", false, error.message);
  }
  equal("no complaint and no request", complaints, []);
  await context.close();
}

// A number cell prints its value rounded; this says whether `text` is a rounding of `value`.
function isRoundingOf(text, value) {
  if (value === null) return text === "–";
  const plain = text.replaceAll("−", "-").replaceAll(",", "");
  const [mantissa, exponent = "0"] = plain.split("e");
  const unit = 10 ** (Number(exponent) - (mantissa.split(".")[1] ?? "").length);
  return plain !== "" && Math.abs(Number(plain) - value) <= 0.5001 * unit;
}

const cells = (page, table) =>
  page.$$eval(`${table} td[data-value]`, (all) =>
    all.map((td) => ({
      ...td.dataset,
      text: td.querySelector(".value, .absent").textContent,
      best: td.classList.contains("best"),
    })),
  );
const redrawn = (page) =>
  page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
  );

const groupKey = (group) => `${group.kind}:${group.name}`;
const groupKeys = (results) => [
  ...new Set(results.models.flatMap((model) => model.groups.map(groupKey))),
];
const groupOf = (model, key) => model.groups.find((group) => groupKey(group) === key);

function checkMetricCells(results, key, found) {
  equal(`cells of ${key}`, found.length, results.models.length * results.metrics.length);
  for (const metric of results.metrics) {
    const values = results.models.map((model) => groupOf(model, key)?.metrics?.[metric.key] ?? {});
    const known = values.map((each) => each.value ?? null).filter((value) => value !== null);
    const best =
      typeof metric.lower_is_better !== "boolean" || known.length < 2
        ? null
        : metric.lower_is_better
          ? Math.min(...known)
          : Math.max(...known);
    results.models.forEach((model, i) => {
      const { value = null, low = null, high = null } = values[i];
      const cell = found.find(
        (each) => each.metric === metric.key && each.model === model.name && each.group === key,
      );
      const where = `${model.name}, ${metric.key}, ${key}`;
      check(`cell of ${where}`, cell !== undefined);
      if (!cell) return;
      equal(
        `numbers of ${where}`,
        [cell.value, cell.low, cell.high].map((text) => JSON.parse(text)),
        [value, low, high],
      );
      check(`text of ${where}`, isRoundingOf(cell.text, value), `${cell.text} for ${value}`);
      equal(`best mark of ${where}`, cell.best, value !== null && value === best);
    });
  }
}

async function checkGroups(page, results) {
  const keys = groupKeys(results);
  equal(
    "groups in the selector",
    (await page.$$eval("#group option", (all) => all.map((o) => o.value))).sort(),
    [...keys].sort(),
  );
  for (const key of keys) {
    await page.selectOption("#group", key);
    checkMetricCells(results, key, await cells(page, "#metrics-table"));
    for (const cell of await cells(page, "#seconds-table")) {
      const model = results.models.find((each) => each.name === cell.model);
      const expected =
        groupOf(model, key)?.horizons?.find((horizon) => String(horizon.t_s) === cell.t)?.error ??
        null;
      equal(`error of ${cell.model} after ${cell.t} s, ${key}`, JSON.parse(cell.value), expected);
    }
  }
  await page.selectOption("#group", keys[0]);
}

async function checkCoverage(page, results) {
  for (const [index, model] of results.models.slice(0, 12).entries()) {
    await page.selectOption("#detail-model", String(index));
    const horizons = model.groups[0].horizons ?? [];
    const found = await cells(page, "#coverage-table");
    for (const cell of found) {
      const horizon = horizons.find((each) => String(each.t_s) === cell.t);
      const kind = cell.metric.replace("coverage.", "");
      const own = kind === "conformal" ? horizon.coverage.conformal : horizon.coverage;
      const at = own?.level.findIndex((level) => String(level) === cell.level);
      const expected =
        cell.metric === "sharpness_90"
          ? horizon.sharpness_90
          : (own?.[kind === "conformal" ? "ball" : kind]?.[at] ?? null);
      equal(
        `${cell.metric} of ${model.name} at ${cell.t} s, ${cell.level}`,
        JSON.parse(cell.value),
        expected ?? null,
      );
    }
    const kinds = new Set(found.map((cell) => cell.metric));
    check(
      `regions of ${model.name}`,
      horizons.length === 0 || (kinds.has("coverage.region") && kinds.has("coverage.radial")),
    );
    equal(
      `conformal rows of ${model.name}`,
      kinds.has("coverage.conformal"),
      horizons.some((horizon) => horizon.coverage.conformal),
    );
  }
}

async function checkComparisons(page, results) {
  const found = results.comparisons.length === 0 ? [] : await cells(page, "#comparison-table");
  equal("comparison cells", found.length, 4 * results.comparisons.length);
  for (const cell of found) {
    const comparison = results.comparisons.find(
      ({ a, b, metric }) => a === cell.model && b === cell.against && metric === cell.metric,
    );
    equal(
      `${cell.field} of ${cell.model} against ${cell.against}`,
      JSON.parse(cell.value),
      comparison?.[cell.field] ?? null,
    );
  }
}

const rowNames = (page) =>
  page.$$eval("#metrics-table tbody th .name", (all) => all.map((each) => each.textContent));

async function checkSorting(page, results) {
  for (const metric of results.metrics) {
    const heading = page.locator(`#metrics-table th[data-metric="${metric.key}"]`);
    await heading.locator("button").focus();
    const orders = [];
    for (let i = 0; i < 2; i++) {
      await page.keyboard.press("Enter");
      const direction = await heading.getAttribute("aria-sort");
      const shown = (await cells(page, "#metrics-table"))
        .filter((cell) => cell.metric === metric.key)
        .map((cell) => JSON.parse(cell.value));
      const known = shown.filter((value) => value !== null);
      const sorted = [...known].sort((a, b) => (direction === "ascending" ? a - b : b - a));
      equal(`order by ${metric.key}, ${direction}, nulls last`, shown, [
        ...sorted,
        ...shown.filter((value) => value === null),
      ]);
      orders.push(direction);
    }
    equal(`directions of ${metric.key}`, orders.sort(), ["ascending", "descending"]);
    equal(
      "one sorted column",
      await page.locator('#metrics-table thead th:not([aria-sort="none"])').count(),
      1,
    );
  }
  await page.click("#metrics-table thead th:first-child button");
  const names = await rowNames(page);
  equal(
    "all models have a row",
    [...names].sort(),
    results.models.map((model) => model.name).sort(),
  );
}

/** Chart boxes of a section, each with its count of marks that have a shape. */
const shapes = (page, section) =>
  page.$$eval(`#${section} .chart`, (all) =>
    all.map((chart) => {
      const marks = [
        ...chart.querySelectorAll(
          'svg.plot [aria-label="line"] path, svg.plot [aria-label="bar"] rect, ' +
            'svg.plot [aria-label="rect"] rect, svg.plot [aria-label="dot"] > *',
        ),
      ];
      return marks.filter((mark) =>
        mark.tagName === "path"
          ? (mark.getAttribute("d") ?? "").length > 3 && !/NaN/.test(mark.getAttribute("d"))
          : mark.tagName !== "rect" || Number(mark.getAttribute("height")) > 0,
      ).length;
    }),
  );

async function checkCharts(page, results) {
  const groups = results.models.flatMap((model) => model.groups);
  const all = results.models.map((model) => model.groups[0]);
  const expected = {
    horizon: all.some((group) => group.error?.length > 0) ? 1 : 0,
    categories: groups.some((group) => group.kind === "category") ? 1 : 0,
    calibration: all.some((group) => group.calibration) ? 1 : 0,
    examples: results.examples.length > 0 ? 2 : 0,
    training: results.curves?.some((curve) => curve.points.length > 0) ? 2 : 0,
  };
  for (const [section, count] of Object.entries(expected)) {
    const drawn = (await shapes(page, section)).filter((marks) => marks > 0).length;
    check(`charts of ${section}`, drawn >= count, `${drawn} of ${count}`);
  }
  equal("charts without a label", await page.locator("svg.plot:not([aria-label])").count(), 0);
  if (expected.horizon === 0) return;

  const picture = (section) => page.$eval(`#${section} .chart`, (chart) => chart.innerHTML);
  for (const section of ["horizon", "categories"].filter((each) => expected[each] > 0)) {
    const before = await picture(section);
    await page.check(`#${section} input[value="log"]`);
    check(`log scale changes ${section}`, (await picture(section)) !== before);
    check(`log scale draws ${section}`, (await shapes(page, section))[0] > 0);
    await page.check(`#${section} input[value="linear"]`);
    equal(`linear scale restores ${section}`, await picture(section), before);
  }
  await page.locator("#horizon svg.plot").first().hover();
  await redrawn(page);
  check(
    "a tooltip follows the pointer",
    /after [0-9.]+ s/.test(await page.textContent('#horizon [aria-label="tip"]')),
  );
  const toggle = page.locator("#horizon .legend [aria-pressed]").first();
  const lines = () => page.locator('#horizon svg.plot [aria-label="line"] path').count();
  const before = await lines();
  await toggle.press("Enter");
  equal(
    "switched off",
    [await toggle.getAttribute("aria-pressed"), await lines()],
    ["false", before - 1],
  );
  await toggle.press("Enter");
  equal(
    "switched on again",
    [await toggle.getAttribute("aria-pressed"), await lines()],
    ["true", before],
  );
}

async function checkDetail(page, results) {
  const pit = () => page.$eval("#pit .chart", (chart) => chart.innerHTML);
  const seconds = await page.$$eval("#pit-horizon option", (all) => all.map((each) => each.value));
  if (seconds.length > 1) {
    equal("PIT histograms", await page.locator("#pit svg.plot").count(), 3);
    const before = await pit();
    await page.selectOption("#pit-horizon", seconds[0]);
    check("the horizon changes the PIT histograms", (await pit()) !== before);
  }
  for (let i = 0; i < results.examples.length; i++) {
    await page.selectOption("#example", String(i));
    const text = await page.textContent("#examples");
    check(
      `example ${i} is named`,
      text.includes(results.examples[i].flight) && text.includes(results.examples[i].category),
    );
    for (const frame of ["all", "near"]) {
      await page.check(`#examples input[value="${frame}"]`);
      check(
        `example ${i}, ${frame}, is drawn twice`,
        (await shapes(page, "examples")).every((marks) => marks >= 2),
      );
    }
  }
  if (results.examples.length > 0) {
    const steps = await page.$$eval("#examples svg.plot", (all) =>
      all.map((svg) =>
        ["x", "y"].map((axis) => {
          const ticks = [
            ...svg.querySelectorAll(`[aria-label="${axis}-axis tick label"] text`),
          ].slice(0, 2);
          const at = ticks.map(
            (tick) => tick.transform.baseVal.consolidate().matrix[axis === "x" ? "e" : "f"],
          );
          const value = ticks.map((tick) => Number(tick.textContent.replace("−", "-")));
          return Math.abs((at[1] - at[0]) / (value[1] - value[0]));
        }),
      ),
    );
    for (const [x, y] of steps)
      check("a metre is as long on both axes", Math.abs(x / y - 1) < 0.02, `${x} and ${y} pixels`);
  }
}

/** Pixels of the 3-D picture: how many are not empty, how many have this colour, and all as one text. */
const pixels = (page, colour) =>
  page.$eval(
    "#example-scene canvas",
    (canvas, wanted) => {
      // A copy, so that reading does not change how the page's own canvas is kept.
      const copy = document.createElement("canvas");
      copy.width = canvas.width;
      copy.height = canvas.height;
      const probe = copy.getContext("2d", { willReadFrequently: true });
      probe.drawImage(canvas, 0, 0);
      const { data } = probe.getImageData(0, 0, copy.width, copy.height);
      probe.fillStyle = getComputedStyle(document.documentElement).getPropertyValue(wanted);
      probe.fillRect(0, 0, 1, 1);
      const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
      let drawn = 0,
        coloured = 0,
        hash = 0;
      for (let i = 0; i < data.length; i += 4) {
        if (data[i + 3] > 0) drawn++;
        if (data[i + 3] === 255 && data[i] === r && data[i + 1] === g && data[i + 2] === b)
          coloured++;
        hash =
          (Math.imul(hash, 31) + data[i] + 7 * data[i + 1] + 13 * data[i + 2] + data[i + 3]) | 0;
      }
      return { drawn, coloured, hash };
    },
    colour,
  );

const apart = (a, b) => Math.hypot(...a.map((x, axis) => x - b[axis]));

async function checkInstant(page, example, name, step) {
  await page.fill("#example-time", String(step));
  const text = await page.textContent("#example-instant");
  const point = example.points[name][step - 1];
  const radius = example.forecasts[name].region_90?.radius[step - 1];
  const error = apart(point, example.target[step - 1]);
  const stated = text.match(/^t0 \+ ([0-9.]+) s: ([0-9.e−]+) m from the flown path, (.*)$/);
  check(`instant ${step} of ${name}`, stated && isRoundingOf(stated[1], step / 10), text);
  check(`error of ${name} at step ${step}`, stated && isRoundingOf(stated[2], error), text);
  const region =
    radius === undefined
      ? "no region stated"
      : `${error <= radius ? "inside" : "outside"} the 90 % region`;
  check(`region of ${name} at step ${step}`, stated?.[3].startsWith(region), text);
}

async function checkScene(page, results) {
  if (results.examples.length === 0) return;
  await page.selectOption("#example", "0");
  const [example] = results.examples;
  const shown = results.models.slice(0, 8).filter((each) => example.points[each.name]?.length > 0);
  for (const model of shown) {
    const index = results.models.indexOf(model);
    await page.selectOption("#example-model", String(index));
    await page.check('#examples input[value="all"]');
    const { drawn, coloured } = await pixels(page, `--model-${index % 8}`);
    check(`the 3-D picture of ${model.name} has lines`, drawn > 2000, `${drawn} pixels`);
    check(`it has the colour of ${model.name}`, coloured > 50, `${coloured} pixels`);
    check("it has the flown path", (await pixels(page, "--text")).coloured > 50);
    for (const step of [1, 25, 50]) await checkInstant(page, example, model.name, step);
  }
  const ink = "--text";
  const canvas = page.locator("#example-scene canvas");
  await canvas.scrollIntoViewIfNeeded();
  const before = await pixels(page, ink);
  const { x, y, width, height } = await canvas.boundingBox();
  await page.mouse.move(x + width / 2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width / 2 + 90, y + height / 2 + 30, { steps: 3 });
  await page.mouse.up();
  const turned = await pixels(page, ink);
  check("dragging turns the picture", turned.hash !== before.hash && turned.drawn > 2000);
  await canvas.press("+");
  check("a key comes nearer", (await pixels(page, ink)).hash !== turned.hash);
  await canvas.press("0");
  equal("a key goes back", await pixels(page, ink), before);
  await page.fill("#example-time", "10");
  check("the slider moves the marks", (await pixels(page, ink)).hash !== before.hash);
  await page.check('#examples input[value="near"]');
}

async function checkNoCanvas(file) {
  scope = "no canvas";
  await open(
    file,
    async (page) => {
      check("a sentence", (await page.textContent("#examples")).includes("draws no canvas"));
      check("the plan is drawn", (await shapes(page, "examples")).length === 2);
    },
    {},
    () => {
      HTMLCanvasElement.prototype.getContext = () => null;
    },
  );
}

const trainingRow = (curve) => {
  const last = curve.points.at(-1);
  const best = curve.points.filter((point) => point.best).at(-1);
  return {
    parameters: curve.parameters,
    windows: last?.windows ?? null,
    epochs: last?.epochs ?? null,
    windows_per_second: last ? last.windows / last.seconds : null,
    minutes: last ? last.seconds / 60 : null,
    validation_nll: best?.validation_nll ?? null,
    validation_ade_m: best?.validation_ade_m ?? null,
  };
};

async function checkTraining(page, results) {
  const curves = results.curves ?? [];
  const sections = await page.locator("#training").count();
  equal("a training section only where there are curves", sections, curves.length > 0 ? 1 : 0);
  if (sections === 0) return;
  const expected = curves
    .map((curve) => ({ curve, row: trainingRow(curve) }))
    .sort((a, b) => (a.row.validation_nll ?? Infinity) - (b.row.validation_nll ?? Infinity));
  const found = await cells(page, "#training-table");
  equal("training cells", found.length, 7 * curves.length);
  expected.forEach(({ curve, row }, i) => {
    for (const [j, [metric, value]] of Object.entries(row).entries()) {
      const cell = found[7 * i + j];
      equal(
        `origin of ${metric} of ${curve.name}`,
        [cell.model, cell.metric],
        [curve.name, metric],
      );
      equal(`${metric} of training ${curve.name}`, JSON.parse(cell.value), value);
      check(`text of ${metric} of ${curve.name}`, isRoundingOf(cell.text, value), cell.text);
    }
  });
  equal(
    "why the trainings ended",
    await page.$$eval("#training-table td.text", (all) => all.map((td) => td.textContent)),
    expected.map(({ curve }) => curve.note || "has not ended"),
  );

  const drawn = curves.filter((curve) => curve.points.length > 0).length;
  const count = (shape) =>
    page.$$eval(
      "#training .chart",
      (all, shape) => all.map((chart) => chart.querySelectorAll(`svg.plot ${shape}`).length),
      shape,
    );
  const lines = () => count('[aria-label="line"] path');
  equal("validation and train lines", await lines(), [2 * drawn, drawn]);
  // Of a line with symbols these are filled; a ring is not.
  equal("rings at the best points", await count('[aria-label="dot"] [fill="none"] > *'), [
    drawn,
    drawn,
  ]);
  const pictures = () =>
    page.$$eval("#training .chart", (all) =>
      all.map((chart) => chart.innerHTML.replaceAll(/plot-clip-\d+/g, "")),
    );
  const before = await pictures();
  for (const [chosen, usual] of [
    ["windows", "minutes"],
    ["all", "settled"],
  ]) {
    await page.check(`#training input[value="${chosen}"]`);
    const other = await pictures();
    check(
      `${chosen} changes both charts`,
      other.every((picture, i) => picture !== before[i] && !picture.includes("NaN")),
    );
    equal(`${chosen} keeps the lines`, await lines(), [2 * drawn, drawn]);
    await page.check(`#training input[value="${usual}"]`);
    check(`${usual} restores both charts`, isDeepStrictEqual(await pictures(), before));
  }
  await page.locator("#training svg.plot").first().hover();
  await redrawn(page);
  check(
    "a tooltip names time and windows",
    /after [0-9.]+ min, [0-9,]+ windows/.test(
      await page.textContent('#training [aria-label="tip"]'),
    ),
  );
  const others = await page.locator("#horizon svg.plot [aria-label='line'] path").count();
  const toggle = page.locator("#training .legend [aria-pressed]").first();
  await toggle.press("Enter");
  equal("a training switched off", await lines(), [2 * drawn - 2, drawn - 1]);
  equal(
    "the other charts stay",
    await page.locator("#horizon svg.plot [aria-label='line'] path").count(),
    others,
  );
  await toggle.press("Enter");
  equal("a training switched on again", await lines(), [2 * drawn, drawn]);
}

async function checkText(page, results) {
  const text = await page.textContent("#page");
  const { corpus, split_hash } = results.protocol;
  for (const part of [
    corpus.name,
    corpus.hash,
    split_hash ?? "",
    results.program,
    results.protocol.disturbance?.text ?? "",
    ...results.models.map((model) => model.fingerprint),
    ...results.metrics.map((metric) => metric.meaning),
  ])
    check(`the page says ${part}`, text.includes(part));
  const values = results.models.map((model) => model.groups[0].metrics.ade?.value ?? Infinity);
  const best = results.models[values.indexOf(Math.min(...values))];
  const verdict = await page.textContent(".verdict");
  check(
    "the verdict names the best model",
    values.every((v) => v === Infinity) || verdict.startsWith(best.name),
    verdict,
  );
  equal(
    "elements made by data",
    await page.locator("#page img, #page script, #page iframe, #page a:not([href^='#'])").count(),
    0,
  );
  equal("headers without scope", await page.locator("th:not([scope])").count(), 0);
}

async function checkWidths(page, name) {
  for (const width of [360, 1280, 3840]) {
    await page.setViewportSize({ width, height: 900 });
    await redrawn(page);
    const wide = await page.evaluate(
      () => document.documentElement.scrollWidth - window.innerWidth,
    );
    check(`no overflow at ${width} px`, wide <= 0, `${wide} px too wide`);
  }
  if (!options.screenshot) return;
  mkdirSync(options.screenshot, { recursive: true });
  for (const [width, colorScheme] of [
    [1440, "light"],
    [1440, "dark"],
    [390, "light"],
  ]) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    await redrawn(page);
    await page.screenshot({
      path: join(options.screenshot, `${name}-${width}-${colorScheme}.png`),
      fullPage: true,
    });
  }
}

async function checkReport(file, results, name) {
  scope = name;
  await open(file, async (page) => {
    await page.waitForFunction(() =>
      [...document.querySelectorAll(".chart")].every((chart) => chart.childElementCount > 0),
    );
    await checkText(page, results);
    await checkCharts(page, results);
    await checkGroups(page, results);
    await checkCoverage(page, results);
    await checkComparisons(page, results);
    await checkSorting(page, results);
    await checkDetail(page, results);
    await checkScene(page, results);
    await checkTraining(page, results);
    await checkWidths(page, name);
  });
}

const SLOT = /<script type="application\/json" id="aerocast-results">(.*?)<\/script>/gs;

async function checkGivenReport() {
  const slots = [...readFileSync(reportPath, "utf8").matchAll(SLOT)];
  scope = reportPath;
  equal("slots for results", slots.length, 1);
  const results = JSON.parse(slots[0][1]);
  if (resultsPath)
    check(
      "the embedded results are those of the file",
      isDeepStrictEqual(results, JSON.parse(readFileSync(resultsPath, "utf8"))),
    );
  await checkReport(resolve(reportPath), results, "report");
}

async function checkBuiltPage() {
  const html = readFileSync(fileURLToPath(new URL("../dist/report.html", import.meta.url)), "utf8");
  const folder = mkdtempSync(join(tmpdir(), "aerocast-report-"));
  const write = (name, text) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const says = (name, text, expected) => {
    scope = name;
    return open(write(`${name}.html`, text), async (page) =>
      check(
        "says so",
        (await page.textContent("#page")).includes(expected),
        await page.textContent("#page"),
      ),
    );
  };
  try {
    await says("empty", html, "No results are embedded");
    await says("foreign", embed(html, { format: "something else" }), "cannot be read");
    await says(
      "no-models",
      embed(html, { ...makeResults({ examples: 0 }), models: [], comparisons: [] }),
      "no model",
    );
    const cases = {
      full: makeResults(),
      sparse: sparseResults(),
      many: makeResults({ models: manyModels(30), examples: 1 }),
    };
    for (const [name, results] of Object.entries(cases))
      await checkReport(write(`${name}.html`, embed(html, results)), results, name);

    await checkNoCanvas(write("canvas.html", embed(html, cases.full)));

    scope = "hostile names";
    await open(write("hostile.html", embed(html, cases.full)), async (page) => {
      check("shown as text in the table", (await rowNames(page)).includes(HOSTILE));
      check(
        "shown as text in the selector",
        (
          await page.$$eval("#detail-model option", (all) => all.map((o) => o.textContent))
        ).includes(HOSTILE),
      );
      check(
        "shown as text in the examples",
        (await page.textContent("#example")).includes(HOSTILE),
      );
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

await (reportPath ? checkGivenReport() : checkBuiltPage());
await browser.close();
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
