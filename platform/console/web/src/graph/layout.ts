import { bodies, edges, type Body, type Definition, type Edge, type Place } from "./model";

// Where the nodes of a graph are drawn: in layers from the top, bodies in the boxes of their nodes.

export interface Box {
  place: Place;
  x: number;
  y: number;
  w: number;
  h: number;
  holds: boolean; // It has bodies in it.
}

export interface Frame {
  name: string; // Of a branch.
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface Line extends Edge {
  points: [x: number, y: number][];
}

export interface Layout {
  w: number;
  h: number;
  boxes: Box[]; // Outer ones first.
  frames: Frame[];
  lines: Line[];
}

export const size = { w: 196, h: 56, head: 44, gapX: 28, gapY: 46, pad: 16, label: 20 } as const;

interface Sized {
  w: number;
  h: number;
}
interface Drawn extends Sized {
  boxes: Box[];
  frames: Frame[];
  lines: Line[];
}

export function layout(d: Definition): Layout {
  const below = new Map<string, Body[]>();
  const [root, ...others] = bodies(d);
  for (const b of others) {
    const at = b.pointer.replace(/(\/branches\/\d+)?\/nodes$/, "");
    below.set(at, [...(below.get(at) ?? []), b]);
  }
  const out = root && root.places.length > 0 ? drawBody(root, below) : { w: size.w, h: size.h, boxes: [], frames: [], lines: [] };
  const margin = 20;
  shift(out, margin, margin);
  return { ...out, w: out.w + 2 * margin, h: out.h + 2 * margin };
}

function shift(d: Omit<Drawn, "w" | "h">, x: number, y: number): void {
  for (const b of [...d.boxes, ...d.frames]) {
    b.x += x;
    b.y += y;
  }
  for (const l of d.lines) l.points = l.points.map(([px, py]) => [px + x, py + y]);
}

// drawNode draws a node at the origin, with its bodies side by side in it.
function drawNode(p: Place, below: ReadonlyMap<string, Body[]>): Drawn {
  const inside = below.get(p.pointer) ?? [];
  if (inside.length === 0) return { w: size.w, h: size.h, boxes: [{ place: p, x: 0, y: 0, w: size.w, h: size.h, holds: false }], frames: [], lines: [] };
  const drawn = inside.map((b) => ({ of: b, ...drawBody(b, below) }));
  const top = size.head + 14 + (drawn.some((b) => b.of.name) ? size.label : 0);
  let x: number = size.pad;
  const out: Drawn = { w: 0, h: 0, boxes: [], frames: [], lines: [] };
  const tallest = Math.max(...drawn.map((b) => b.h));
  for (const b of drawn) {
    shift(b, x, top);
    if (b.of.name) out.frames.push({ name: b.of.name, x: x - 6, y: size.head + 10, w: b.w + 12, h: tallest + size.label + 6 });
    out.boxes.push(...b.boxes);
    out.frames.push(...b.frames);
    out.lines.push(...b.lines);
    x += b.w + size.gapX;
  }
  out.w = Math.max(size.w, x - size.gapX + size.pad);
  out.h = top + tallest + size.pad;
  out.boxes.unshift({ place: p, x: 0, y: 0, w: out.w, h: out.h, holds: true });
  return out;
}

// Item is what has a place in a layer: a node, or a bend of a line that passes the layer.
interface Item extends Sized {
  x: number;
  y: number;
  drawn?: Drawn;
  before: Item[];
  after: Item[];
}

function drawBody(b: Body, below: ReadonlyMap<string, Body[]>): Drawn {
  const lines = edges(b);
  const depth = layersOf(b, lines);
  const layers: Item[][] = [];
  const items = new Map<string, Item>();
  for (const p of b.places) {
    const drawn = drawNode(p, below);
    const item: Item = { x: 0, y: 0, w: drawn.w, h: drawn.h, drawn, before: [], after: [] };
    items.set(p.pointer, item);
    (layers[depth.get(p.pointer)!] ??= []).push(item);
  }
  const routes = lines.map((l) => {
    const route = [items.get(l.from)!];
    const [from, to] = [depth.get(l.from)!, depth.get(l.to)!];
    for (let at = from + 1; at < to; at++) {
      const bend: Item = { x: 0, y: 0, w: 12, h: 0, before: [], after: [] };
      layers[at]!.push(bend);
      route.push(bend);
    }
    route.push(items.get(l.to)!);
    if (from < to) {
      for (let i = 1; i < route.length; i++) {
        route[i - 1]!.after.push(route[i]!);
        route[i]!.before.push(route[i - 1]!);
      }
    }
    return route;
  });
  order(layers);
  placeAcross(layers);
  let y = 0;
  for (const layer of layers) {
    const tall = Math.max(...layer.map((i) => i.h));
    for (const i of layer) {
      i.y = y;
      if (!i.drawn) i.h = tall;
    }
    y += tall + size.gapY;
  }
  const left = Math.min(...layers.flat().map((i) => i.x));
  const out: Drawn = { w: Math.max(...layers.flat().map((i) => i.x + i.w)) - left, h: y - size.gapY, boxes: [], frames: [], lines: [] };
  for (const i of layers.flat()) {
    i.x -= left;
    if (!i.drawn) continue;
    shift(i.drawn, i.x, i.y);
    out.boxes.push(...i.drawn.boxes);
    out.frames.push(...i.drawn.frames);
    out.lines.push(...i.drawn.lines);
  }
  lines.forEach((l, n) => out.lines.push({ ...l, points: points(routes[n]!) }));
  return out;
}

// points leads from the foot of the first item to the head of the last, straight down along bends.
function points(route: Item[]): [number, number][] {
  const out: [number, number][] = [];
  route.forEach((i, n) => {
    const x = i.x + i.w / 2;
    if (n > 0) out.push([x, i.y]);
    if (n < route.length - 1) out.push([x, i.y + i.h]);
  });
  return out;
}

// layersOf puts each node below all that lead to it. Lines that lead back, which a graph must not have while
// one edits it may, are passed over.
function layersOf(b: Body, lines: readonly Edge[]): Map<string, number> {
  const out = new Map(b.places.map((p) => [p.pointer, 0]));
  const after = new Map<string, string[]>();
  for (const l of lines) after.set(l.from, [...(after.get(l.from) ?? []), l.to]);
  const sorted: string[] = [];
  const state = new Map<string, 1 | 2>();
  const forward = new Set<string>();
  for (const { pointer } of b.places) {
    const stack: [string, number][] = [[pointer, 0]];
    while (stack.length > 0) {
      const top = stack[stack.length - 1]!;
      const [at, n] = top;
      if (n === 0 && state.has(at)) {
        stack.pop();
        continue;
      }
      state.set(at, 1);
      const to = after.get(at)?.[n];
      top[1]++;
      if (to === undefined) {
        state.set(at, 2);
        sorted.push(at);
        stack.pop();
      } else if (state.get(to) !== 1) {
        forward.add(`${at} ${to}`);
        if (!state.has(to)) stack.push([to, 0]);
      }
    }
  }
  for (const at of sorted.reverse()) {
    for (const to of after.get(at) ?? []) if (forward.has(`${at} ${to}`)) out.set(to, Math.max(out.get(to)!, out.get(at)! + 1));
  }
  const used = [...new Set(out.values())].sort((x, y) => x - y);
  for (const [p, at] of out) out.set(p, used.indexOf(at));
  return out;
}

const mean = (of: readonly Item[], at: (i: Item) => number): number | undefined => (of.length ? of.reduce((sum, i) => sum + at(i), 0) / of.length : undefined);

// order sorts each layer by where its neighbours are, down and up a few times, so that few lines cross.
function order(layers: Item[][]): void {
  const place = new Map<Item, number>();
  const note = (layer: Item[]) => layer.forEach((i, n) => place.set(i, n));
  layers.forEach(note);
  for (let round = 0; round < 4; round++) {
    const down = round % 2 === 0;
    for (const layer of down ? layers : [...layers].reverse()) {
      const wanted = new Map(layer.map((i) => [i, mean(down ? i.before : i.after, (o) => place.get(o)!) ?? place.get(i)!]));
      layer.sort((a, b) => wanted.get(a)! - wanted.get(b)!);
      note(layer);
    }
  }
}

// placeAcross puts items below and above the middle of their neighbours, in their order and apart.
function placeAcross(layers: Item[][]): void {
  for (const layer of layers) {
    const whole = layer.reduce((sum, i) => sum + i.w, 0) + size.gapX * (layer.length - 1);
    let x = -whole / 2;
    for (const i of layer) {
      i.x = x;
      x += i.w + size.gapX;
    }
  }
  const middle = (i: Item) => i.x + i.w / 2;
  for (let round = 0; round < 6; round++) {
    const down = round % 2 === 0;
    for (const layer of down ? layers : [...layers].reverse()) {
      const wanted = layer.map((i) => (mean(down ? i.before : i.after, middle) ?? middle(i)) - i.w / 2);
      let least = -Infinity;
      layer.forEach((i, n) => {
        i.x = Math.max(wanted[n]!, least);
        least = i.x + i.w + size.gapX;
      });
      // What was pushed to the right goes back by the half of it, so that a layer stays below its neighbours.
      const off = mean(layer, (i) => i.x - wanted[layer.indexOf(i)]!)!;
      for (const i of layer) i.x -= off;
    }
  }
}
