import { memo, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { layout, size, type Box, type Line } from "./layout";
import { detail, type Definition } from "./model";

// Picture draws a graph as SVG in a box that scrolls. It holds what is seen of the graph, so that a large one costs no
// more than a small one. One node has the focus; arrows move it, Enter opens it.

export interface State {
  status: string; // A word, beside its colour.
  badge?: string | undefined;
}

const zooms = [0.25, 0.35, 0.5, 0.65, 0.8, 1, 1.25, 1.5, 2];
const margin = 300; // Around what is seen, in pixels of the graph.

export function Picture({ of, states, selected, onSelect, label, hint }: {
  of: Definition;
  states?: ReadonlyMap<string, State> | undefined; // By pointer.
  selected?: string | undefined; // A pointer.
  onSelect: (pointer: string) => void;
  label: string;
  hint?: string | undefined;
}) {
  const drawn = useMemo(() => layout(of), [of]);
  const [zoom, setZoom] = useState(1);
  const [seen, setSeen] = useState({ x: 0, y: 0, w: 1200, h: 800 });
  const frame = useRef<HTMLDivElement>(null);
  const byPointer = useMemo(() => new Map(drawn.boxes.map((b) => [b.place.pointer, b])), [drawn]);
  const current = selected && byPointer.has(selected) ? selected : drawn.boxes[0]?.place.pointer;

  const look = useCallback(() => {
    const f = frame.current;
    if (f) setSeen({ x: f.scrollLeft / zoom, y: f.scrollTop / zoom, w: f.clientWidth / zoom, h: f.clientHeight / zoom });
  }, [zoom]);
  useLayoutEffect(look, [look, drawn]);
  useEffect(() => {
    const watch = new ResizeObserver(look);
    watch.observe(frame.current!);
    return () => watch.disconnect();
  }, [look]);
  const fit = useCallback(() => {
    const f = frame.current!;
    const wanted = Math.min(1, f.clientWidth / drawn.w, f.clientHeight / drawn.h);
    setZoom(Math.max(zooms[0]!, wanted));
  }, [drawn]);
  // A graph that is wider than its frame is shown smaller at first, as far as it can be read.
  const first = useRef(true);
  useLayoutEffect(() => {
    const f = frame.current!;
    if (!first.current || f.clientWidth === 0) return;
    first.current = false;
    if (drawn.w > f.clientWidth) setZoom(Math.max(0.65, f.clientWidth / drawn.w));
  }, [drawn]);
  const step = (by: 1 | -1) => {
    const next = by > 0 ? zooms.find((z) => z > zoom + 0.001) : zooms.findLast((z) => z < zoom - 0.001);
    if (next) setZoom(next);
  };
  // The wheel scrolls, and zooms where Ctrl is held, as elsewhere in a browser.
  const stepNow = useRef(step);
  stepNow.current = step;
  useEffect(() => {
    const f = frame.current!;
    const onWheel = (e: WheelEvent) => {
      if (!e.ctrlKey && !e.metaKey) return;
      e.preventDefault();
      stepNow.current(e.deltaY < 0 ? 1 : -1);
    };
    f.addEventListener("wheel", onWheel, { passive: false });
    return () => f.removeEventListener("wheel", onWheel);
  }, []);

  const reveal = (b: Box) => {
    const f = frame.current!;
    const [x, y, w, h] = [b.x * zoom, b.y * zoom, Math.min(b.w * zoom, f.clientWidth), (b.holds ? size.h : b.h) * zoom];
    if (x < f.scrollLeft) f.scrollLeft = x - 20;
    else if (x + w > f.scrollLeft + f.clientWidth) f.scrollLeft = x + w - f.clientWidth + 20;
    if (y < f.scrollTop) f.scrollTop = y - 20;
    else if (y + h > f.scrollTop + f.clientHeight) f.scrollTop = y + h - f.clientHeight + 20;
    look();
  };
  const [focus, setFocus] = useState<string>();
  useEffect(() => {
    if (!focus) return;
    frame.current?.querySelector<SVGGElement>(`[data-at="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
    setFocus(undefined);
  }, [focus, seen]);
  const [roving, setRoving] = useState<string>();
  const at = roving && byPointer.has(roving) ? roving : current;
  const onKey = (e: KeyboardEvent) => {
    const from = at ? byPointer.get(at) : undefined;
    if (!from) return;
    if (e.key === "Enter" || e.key === " ") {
      e.preventDefault();
      onSelect(from.place.pointer);
      return;
    }
    const to = e.key === "Home" ? drawn.boxes[0] : e.key === "End" ? drawn.boxes[drawn.boxes.length - 1] : nearest(drawn.boxes, from, e.key);
    if (!to) return;
    e.preventDefault();
    reveal(to);
    setRoving(to.place.pointer);
    setFocus(to.place.pointer);
  };
  const near = (x: number, y: number, w: number, h: number) =>
    x < seen.x + seen.w + margin && x + w > seen.x - margin && y < seen.y + seen.h + margin && y + h > seen.y - margin;

  const held = useRef<{ x: number; y: number; left: number; top: number }>(undefined);
  return (
    <div className="graph">
      <div className="graph-tools" role="toolbar" aria-label="Size of the picture">
        <button type="button" className="quiet" onClick={() => step(-1)} aria-label="Smaller">−</button>
        <button type="button" className="quiet" onClick={() => setZoom(1)} aria-label={`${Math.round(zoom * 100)} %, to natural size`}>{Math.round(zoom * 100)} %</button>
        <button type="button" className="quiet" onClick={() => step(1)} aria-label="Larger">+</button>
        <button type="button" className="quiet" onClick={fit}>Fit</button>
        {hint && <span className="muted">{hint}</span>}
      </div>
      <div ref={frame} className="graph-frame" tabIndex={0} role="region" aria-label={`${label}: arrows move between nodes`} onScroll={look}
        onPointerDown={(e) => {
          if (e.button !== 0 || (e.target as Element).closest("[data-at]") || e.pointerType !== "mouse") return;
          held.current = { x: e.clientX, y: e.clientY, left: frame.current!.scrollLeft, top: frame.current!.scrollTop };
        }}
        onPointerMove={(e) => {
          if (!held.current || e.buttons === 0) return void (held.current = undefined);
          frame.current!.scrollLeft = held.current.left - (e.clientX - held.current.x);
          frame.current!.scrollTop = held.current.top - (e.clientY - held.current.y);
        }}
        onPointerUp={() => (held.current = undefined)}>
        <svg width={drawn.w * zoom} height={drawn.h * zoom} viewBox={`0 0 ${drawn.w} ${drawn.h}`} role="group" aria-label={label} onKeyDown={onKey}>
          <defs>
            <marker id="graph-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" className="arrow" /></marker>
          </defs>
          {drawn.boxes.filter((b) => b.holds && near(b.x, b.y, b.w, b.h)).map((b) => <rect key={b.place.pointer} className="graph-holder" x={b.x} y={b.y} width={b.w} height={b.h} rx={10} />)}
          {drawn.frames.map((f, i) => near(f.x, f.y, f.w, f.h) && (
            <g key={i} aria-hidden="true">
              <rect className="graph-branch" x={f.x} y={f.y} width={f.w} height={f.h} rx={8} />
              <text className="graph-small" x={f.x + 8} y={f.y + 14}>{f.name}</text>
            </g>
          ))}
          {drawn.lines.map((l, i) => {
            const [[x1, y1], [x2, y2]] = [l.points[0]!, l.points[l.points.length - 1]!];
            return near(Math.min(x1, x2), Math.min(y1, y2), Math.abs(x1 - x2) + 1, Math.abs(y1 - y2) + 1) && <Wire key={i} of={l} />;
          })}
          {drawn.boxes.map((b) => (near(b.x, b.y, b.w, b.holds ? size.h : b.h) || b.place.pointer === at) && (
            <NodeBox key={b.place.pointer} of={b} state={states?.get(b.place.pointer)} selected={b.place.pointer === selected} stops={b.place.pointer === at} onSelect={onSelect} />
          ))}
        </svg>
      </div>
    </div>
  );
}

// nearest is the box that an arrow key goes to: the closest in its direction.
function nearest(all: readonly Box[], from: Box, key: string): Box | undefined {
  const middle = (b: Box): [number, number] => [b.x + b.w / 2, b.y + (b.holds ? size.head : b.h) / 2];
  const [fx, fy] = middle(from);
  let best: Box | undefined;
  let least = Infinity;
  for (const b of all) {
    if (b === from) continue;
    const [x, y] = middle(b);
    const [along, across] = { ArrowDown: [y - fy, x - fx], ArrowUp: [fy - y, x - fx], ArrowRight: [x - fx, y - fy], ArrowLeft: [fx - x, y - fy] }[key] ?? [-1, 0];
    const far = along! + 2 * Math.abs(across!);
    if (along! > 4 && far < least) [best, least] = [b, far];
  }
  return best;
}

const Wire = memo(function Wire({ of: l }: { of: Line }) {
  let path = `M${l.points[0]![0]} ${l.points[0]![1]}`;
  for (let i = 1; i < l.points.length; i++) {
    const [[x1, y1], [x2, y2]] = [l.points[i - 1]!, l.points[i]!];
    const bend = Math.min(60, Math.max(14, Math.abs(y2 - y1) / 2));
    path += x1 === x2 && y2 >= y1 ? `V${y2}` : `C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2}`;
  }
  const [[x1, y1], [x2, y2]] = [l.points[0]!, l.points[1]!];
  return (
    <g aria-hidden="true" className={`graph-line ${l.how}`}>
      <path d={path} markerEnd="url(#graph-arrow)" />
      {l.label && <text className="graph-small" x={x1 + (x2 - x1) * 0.85} y={y1 + (y2 - y1) * 0.7} textAnchor="middle">{short(l.label, 20)}<title>{l.label}</title></text>}
    </g>
  );
});

const short = (s: string, most: number): string => (s.length > most ? s.slice(0, most - 1) + "…" : s);

const NodeBox = memo(function NodeBox({ of: b, state, selected, stops, onSelect }: {
  of: Box;
  state?: State | undefined;
  selected: boolean;
  stops: boolean;
  onSelect: (pointer: string) => void;
}) {
  const p = b.place;
  const what = detail(p);
  const name = [p.id || "no id", p.kind.replaceAll("_", " "), what, state?.status, state?.badge].filter(Boolean).join(", ");
  const h = b.holds ? size.head : b.h;
  return (
    <g className={`graph-node ${state ? state.status.replaceAll(" ", "-") : ""}${selected ? " selected" : ""}`} data-at={p.pointer} role="button" tabIndex={stops ? 0 : -1}
      aria-pressed={selected} onClick={() => onSelect(p.pointer)} transform={`translate(${b.x} ${b.y})`}>
      <rect width={b.w} height={h} rx={b.holds ? 10 : p.kind === "start" || p.kind === "end" ? 26 : 8} />
      <path className="graph-mark" d={`M0 ${b.holds ? 10 : 8}V${h - 8}`} />
      <text className="graph-id" x={14} y={b.holds ? 19 : 23}>{short(p.id || "no id", 20)}</text>
      <text className="graph-small" x={14} y={b.holds ? 35 : 41}>{short([p.kind.replaceAll("_", " "), what].filter(Boolean).join(" · "), 30)}</text>
      {state && <text className="graph-status" x={b.w - 12} y={b.holds ? 19 : 23} textAnchor="end">{state.badge ?? state.status}</text>}
      <title>{name}</title>
    </g>
  );
});
