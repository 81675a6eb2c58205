// SPDX-License-Identifier: BSD-3-Clause
//
// Runs exported networks in ONNX Runtime (docs/onnx.md).
//
//   node run.mjs MODEL.onnx TOKENS HEADS   raw little-endian float32 in and out: tokens
//                                          (windows, T, inputs), heads (windows, outputs): mean,
//                                          log_sigma and logit of a window one after the other
//   node run.mjs --serve                   commands as lines on standard input, each answered by
//                                          one line "ok ..." or "error SENTENCE":
//     load NAME THREADS FILE   a session of FILE with so many threads
//     feed NAME BATCH FILE     so many windows of tokens for it; warms up
//     run NAME BATCH FILE      writes their heads
//     time NAME BATCH RUNS     ok and the nanoseconds of each run, taken around session.run
//     quit
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import * as ort from "onnxruntime-node";

const WARM_UP_RUNS = 3;

class Network {
  static async load(file, threads) {
    const network = new Network();
    network.session = await ort.InferenceSession.create(file, {
      executionProviders: ["cpu"],
      executionMode: "sequential",
      graphOptimizationLevel: "all",
      intraOpNumThreads: threads,
      interOpNumThreads: 1,
      logSeverityLevel: 3,
    });
    network.feeds = new Map(); // by batch
    return network;
  }

  // (T, inputs); the batch may be open.
  get tokenShape() {
    return this.session.inputMetadata[0].shape.slice(1);
  }

  tensor(file, batch) {
    const bytes = readFileSync(file);
    const window = this.tokenShape.reduce((a, b) => a * b, 1);
    const windows = bytes.length / 4 / window;
    if (!Number.isInteger(windows) || windows < 1 || (batch !== undefined && windows !== batch)) {
      throw new Error(
        `${file}: ${bytes.length} bytes, expected ${batch ?? "whole"} windows of ${window} float32`,
      );
    }
    const data = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    return new ort.Tensor("float32", data, [windows, ...this.tokenShape]);
  }

  fed(batch) {
    const feed = this.feeds.get(batch);
    if (feed === undefined) throw new Error(`nothing was fed for a batch of ${batch}`);
    return feed;
  }

  run(tensor) {
    return this.session.run({ tokens: tensor });
  }

  async heads(tensor) {
    const results = await this.run(tensor);
    const parts = this.session.outputNames.map((name) => results[name].data);
    const windows = tensor.dims[0];
    const heads = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (let w = 0; w < windows; ++w) {
      for (const part of parts) {
        const size = part.length / windows;
        heads.set(part.subarray(w * size, (w + 1) * size), at);
        at += size;
      }
    }
    return heads;
  }

  async time(tensor, runs) {
    const times = [];
    for (let i = 0; i < runs; ++i) {
      const start = process.hrtime.bigint();
      await this.run(tensor);
      times.push(process.hrtime.bigint() - start);
    }
    return times;
  }
}

const networks = new Map();

function known(name) {
  const network = networks.get(name);
  if (network === undefined) throw new Error(`no network '${name}' is loaded`);
  return network;
}

function whole(text, what) {
  if (!/^[1-9][0-9]*$/.test(text ?? "")) throw new Error(`${what} is '${text}', expected a count`);
  return Number(text);
}

const commands = {
  async load(name, threads, file) {
    networks.set(name, await Network.load(file, whole(threads, "THREADS")));
    return "ok";
  },
  async feed(name, batch, file) {
    const network = known(name);
    const tensor = network.tensor(file, whole(batch, "BATCH"));
    network.feeds.set(Number(batch), tensor);
    for (let i = 0; i < WARM_UP_RUNS; ++i) await network.run(tensor);
    return "ok";
  },
  async run(name, batch, file) {
    const network = known(name);
    writeFileSync(file, await network.heads(network.fed(whole(batch, "BATCH"))));
    return "ok";
  },
  async time(name, batch, runs) {
    const network = known(name);
    const tensor = network.fed(whole(batch, "BATCH"));
    return ["ok", ...(await network.time(tensor, whole(runs, "RUNS")))].join(" ");
  },
};

async function answer(line) {
  // The last argument is the rest of the line: file names may hold spaces.
  const [, verb, name, second, rest] = /^(\S+)(?: (\S+))?(?: (\S+))?(?: (.*))?$/.exec(line) ?? [];
  try {
    if (!Object.hasOwn(commands, verb ?? "")) throw new Error(`'${line}' is no command`);
    return await commands[verb](name, second, rest);
  } catch (error) {
    return `error ${error.message.replaceAll("\n", " ")}`;
  }
}

async function serve() {
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === "quit") break;
    process.stdout.write(`${await answer(line)}\n`);
  }
  process.exit(0);
}

async function runOnce(model, tokens, heads) {
  const network = await Network.load(model, 1);
  writeFileSync(heads, await network.heads(network.tensor(tokens)));
}

const args = process.argv.slice(2);
if (args.length === 1 && args[0] === "--serve") {
  await serve();
} else if (args.length === 3) {
  await runOnce(...args).catch((error) => {
    console.error(error.message);
    process.exit(1);
  });
} else {
  console.error("usage: node run.mjs MODEL.onnx TOKENS HEADS | node run.mjs --serve");
  process.exit(2);
}
