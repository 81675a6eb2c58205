// SPDX-License-Identifier: BSD-3-Clause
// A small 3-D picture on a plain canvas: a camera that orbits a box, and lines and balls that are
// drawn from far to near. A few hundred lines need no graphics card, so the picture is there in
// every browser and in print.
import type { Point } from "./results";

export interface Box {
  centre: Point;
  ground: number; // radius around the centre, seen from above
  height: number; // half of it
}

export function boxAround(points: Point[], room: number): Box {
  const middle: number[] = [],
    half: number[] = [];
  for (const axis of [0, 1, 2]) {
    const low = points.reduce((least, p) => Math.min(least, p[axis]!), Infinity);
    const high = points.reduce((most, p) => Math.max(most, p[axis]!), -Infinity);
    middle.push((low + high) / 2);
    half.push(((high - low) / 2) * room);
  }
  const [x, y, z] = middle as Point;
  return {
    centre: [x, y, z],
    ground: Math.max(0.05, Math.hypot(half[0]!, half[1]!)),
    height: Math.max(0.02, half[2]!),
  };
}

const START = { azimuth: -0.5, elevation: 0.5, zoom: 1 };
const clamp = (x: number, low: number, high: number) => Math.min(high, Math.max(low, x));

/** Where the picture is seen from: angles in radians, elevation over the horizon. */
export class Camera {
  azimuth = START.azimuth;
  elevation = START.elevation;
  zoom = START.zoom;

  orbit(azimuth: number, elevation: number): void {
    this.azimuth += azimuth;
    this.elevation = clamp(this.elevation + elevation, 0, Math.PI / 2);
  }
  magnify(factor: number): void {
    this.zoom = clamp(this.zoom * factor, 0.2, 20);
  }
  reset(): void {
    Object.assign(this, START);
  }
}

interface Spot {
  x: number;
  y: number;
  depth: number;
  scale: number; // pixels per metre there
}

export interface Stroke {
  colour: string;
  width: number;
  dash?: number[];
}

const DISTANCE = 4; // of the camera, in radii of the box
const BALLS = 4; // per step of a tube, so that it has no dents
const NEAREST = 0.2; // what is nearer, in that distance, is left out

export class Scene {
  private readonly queue: { depth: number; draw: () => void }[] = [];
  private readonly scale: number;
  private readonly reach: number;

  constructor(
    private readonly to: CanvasRenderingContext2D,
    private readonly width: number,
    private readonly height: number,
    private readonly camera: Camera,
    private readonly box: Box,
  ) {
    const { ground, height: half } = box;
    const tall = ground * Math.sin(camera.elevation) + half * Math.cos(camera.elevation);
    const fit = Math.min(width / 2 / ground, height / 2 / Math.max(tall, 0.3 * ground));
    this.scale = 0.98 * camera.zoom * fit;
    this.reach = DISTANCE * Math.hypot(ground, half);
  }

  /** Null behind the camera. */
  project([x, y, z]: Point): Spot | null {
    const { azimuth, elevation } = this.camera;
    const [cx, cy, cz] = this.box.centre;
    const [dx, dy, dz] = [x - cx, y - cy, z - cz];
    const right = Math.cos(azimuth) * dx + Math.sin(azimuth) * dy;
    const away = -Math.sin(azimuth) * dx + Math.cos(azimuth) * dy;
    const up = away * Math.sin(elevation) + dz * Math.cos(elevation);
    const depth = away * Math.cos(elevation) - dz * Math.sin(elevation);
    const distance = (this.reach + depth) / this.reach;
    if (!(distance > NEAREST)) return null;
    const scale = this.scale / distance;
    return { x: this.width / 2 + scale * right, y: this.height / 2 - scale * up, depth, scale };
  }

  /** In pieces, since each has a depth of its own; so colours should be opaque, pieces overlap. */
  line(path: Point[], stroke: Stroke): void {
    let begun = 0; // pixels of the line so far, where its dashes go on
    for (let i = 1; i < path.length; i++) {
      const a = this.project(path[i - 1]!),
        b = this.project(path[i]!);
      if (!a || !b) continue;
      const offset = begun;
      begun += Math.hypot(b.x - a.x, b.y - a.y);
      this.add((a.depth + b.depth) / 2, () => {
        this.to.beginPath();
        this.to.moveTo(a.x, a.y);
        this.to.lineTo(b.x, b.y);
        this.stroke(stroke, offset);
      });
    }
  }

  /** A round mark, `radius` in pixels; with `ring`, its border. */
  dot(p: Point, radius: number, fill: string, ring: Stroke | null = null): void {
    const spot = this.project(p);
    if (!spot) return;
    this.add(spot.depth - 1e-6, () => {
      this.circle(spot, radius);
      this.to.fillStyle = fill;
      this.to.fill();
      if (ring) this.stroke(ring);
    });
  }

  text(p: Point, words: string, colour: string): void {
    const spot = this.project(p);
    if (!spot) return;
    this.add(spot.depth - 2e-6, () => {
      this.to.fillStyle = colour;
      this.to.fillText(words, spot.x + 7, spot.y - 5);
    });
  }

  /** The outline of balls along a path, `radius` in metres: one shade, however many overlap. */
  tube(path: Point[], radius: number[], colour: string, alpha: number): void {
    const { to } = this;
    to.beginPath();
    for (let i = 0; i < path.length; i++) {
      for (let part = i === 0 ? 1 : 1 / BALLS; part <= 1; part += 1 / BALLS) {
        const from = Math.max(0, i - 1);
        const between = (a: number, b: number) => a + part * (b - a);
        const p = path[i]!.map((x, axis) => between(path[from]![axis]!, x)) as Point;
        const spot = this.project(p);
        if (!spot) continue;
        const r = spot.scale * between(radius[from] ?? 0, radius[i] ?? 0);
        to.moveTo(spot.x + r, spot.y);
        to.arc(spot.x, spot.y, r, 0, 2 * Math.PI);
      }
    }
    to.globalAlpha = alpha;
    to.fillStyle = colour;
    to.fill("nonzero");
    to.globalAlpha = 1;
  }

  /** The rim of one ball. */
  ball(p: Point, radius: number, stroke: Stroke): void {
    const spot = this.project(p);
    if (!spot) return;
    this.add(spot.depth, () => {
      this.circle(spot, spot.scale * radius);
      this.stroke(stroke);
    });
  }

  /** Draws what was queued, far things first. */
  finish(): void {
    this.queue.sort((a, b) => b.depth - a.depth);
    for (const { draw } of this.queue.splice(0)) draw();
  }

  private circle({ x, y }: Spot, radius: number): void {
    this.to.beginPath();
    this.to.arc(x, y, radius, 0, 2 * Math.PI);
  }
  private stroke({ colour, width, dash = [] }: Stroke, offset = 0): void {
    this.to.strokeStyle = colour;
    this.to.lineWidth = width;
    this.to.setLineDash(dash);
    this.to.lineDashOffset = offset;
    this.to.lineCap = dash.length > 0 ? "butt" : "round";
    this.to.stroke();
  }
  private add(depth: number, draw: () => void): void {
    this.queue.push({ depth, draw });
  }
}

/** A canvas that fills its box's width, is redrawn at need and hands the pointer to the camera. */
export function orbitCanvas(
  label: string,
  ratio: number,
  camera: Camera,
  paint: (to: CanvasRenderingContext2D, width: number, height: number) => void,
): { node: HTMLElement; redraw: () => void } | null {
  const canvas = document.createElement("canvas");
  const to = canvas.getContext("2d");
  if (!to) return null;
  const node = document.createElement("div");
  node.className = "scene";
  node.append(canvas);
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", label);
  const redraw = () => {
    const width = node.clientWidth;
    if (width === 0) return;
    const height = Math.round(clamp(width * ratio, 280, 0.72 * Math.max(400, window.innerHeight)));
    const density = window.devicePixelRatio || 1;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(width * density);
    canvas.height = Math.round(height * density);
    to.setTransform(density, 0, 0, density, 0, 0);
    paint(to, width, height);
  };
  listen(canvas, camera, redraw);
  new ResizeObserver(redraw).observe(node);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  return { node, redraw };
}

const KEYS = new Map<string, (camera: Camera) => void>([
  ["ArrowLeft", (camera) => camera.orbit(0.12, 0)],
  ["ArrowRight", (camera) => camera.orbit(-0.12, 0)],
  ["ArrowUp", (camera) => camera.orbit(0, 0.08)],
  ["ArrowDown", (camera) => camera.orbit(0, -0.08)],
  ["+", (camera) => camera.magnify(1.2)],
  ["-", (camera) => camera.magnify(1 / 1.2)],
  ["0", (camera) => camera.reset()],
]);

function listen(canvas: HTMLCanvasElement, camera: Camera, redraw: () => void): void {
  const act = (event: Event, what: (camera: Camera) => void) => {
    event.preventDefault();
    what(camera);
    redraw();
  };
  let last: { x: number; y: number } | null = null;
  canvas.addEventListener("pointerdown", (event) => {
    last = { x: event.clientX, y: event.clientY };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!last) return;
    const { x, y } = last;
    last = { x: event.clientX, y: event.clientY };
    act(event, () => camera.orbit((x - last!.x) * 0.008, (last!.y - y) * 0.006));
  });
  for (const end of ["pointerup", "pointercancel"])
    canvas.addEventListener(end, () => (last = null));
  canvas.addEventListener("dblclick", (event) => act(event, () => camera.reset()));
  // Without Ctrl the wheel belongs to the page; a pinch comes as a wheel with Ctrl.
  canvas.addEventListener(
    "wheel",
    (event) => event.ctrlKey && act(event, () => camera.magnify(Math.exp(-0.003 * event.deltaY))),
    { passive: false },
  );
  canvas.addEventListener("keydown", (event) => {
    const what = KEYS.get(event.key);
    if (what) act(event, what);
  });
}
