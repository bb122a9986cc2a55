import { createContext, type ReactNode } from "react";
import { print, type Json } from "../api/json";
import { textOf, isObject, type Members, type Section } from "./spec";

// Sections of a result, as the definition of the tool lists them. What is drawn is also a table.

export const OutputContext = createContext<{ tenant: string }>({ tenant: "" });

export interface Series {
  labels: string[];
  series: { name: string; values: Json[] }[];
}

const configOf = (s: Section): Members => (isObject(s.config) ? (s.config as Members) : {});
const isNumber = (v: Json | undefined): boolean => v !== undefined && v !== null && typeof v !== "boolean" && textOf(v).trim() !== "" && Number.isFinite(Number(textOf(v)));
const labelKeys = ["label", "name", "title", "key", "x", "date", "day", "month", "category", "id"];
const valueKeys = ["value", "score", "count", "total", "amount", "y"];

// seriesOf reads numbers with labels out of a part of a result: rows, a map of numbers, or a list of them; undefined
// where there are none. config may name the keys: x or label, and y, value or series.
export function seriesOf(data: Json | undefined, config: Members): Series | undefined {
  if (isObject(data)) {
    if (Array.isArray(data.labels) && Array.isArray(data.series)) {
      const labels = data.labels.map(textOf);
      const series = data.series.filter(isObject).map((s, i) => ({ name: textOf(s.name ?? s.label ?? `Series ${i + 1}`), values: (s.values ?? s.data ?? []) as Json[] }));
      return series.every((s) => Array.isArray(s.values) && s.values.every((v) => v === null || isNumber(v))) ? { labels, series } : undefined;
    }
    const rows = data.rows ?? data.items ?? data.data ?? data.points;
    if (Array.isArray(rows)) return seriesOf(rows, config);
    const entries = Object.entries(data).filter(([, v]) => isNumber(v));
    return entries.length > 0 && entries.length === Object.keys(data).length ? { labels: entries.map(([n]) => n), series: [{ name: "", values: entries.map(([, v]) => v) }] } : undefined;
  }
  if (!Array.isArray(data) || data.length === 0) return undefined;
  if (data.every((v) => isNumber(v))) return { labels: data.map((_, i) => String(i + 1)), series: [{ name: "", values: data }] };
  if (data.every((v) => Array.isArray(v) && v.length === 2 && isNumber(v[1]))) {
    const pairs = data as Json[][];
    return { labels: pairs.map((v) => textOf(v[0])), series: [{ name: "", values: pairs.map((v) => v[1]!) }] };
  }
  if (!data.every(isObject)) return undefined;
  const rows = data as Members[];
  const keys = [...new Set(rows.flatMap((r) => Object.keys(r)))];
  const named = (...of: string[]) => of.map((n) => config[n]).find((v): v is string => typeof v === "string");
  const label = named("x", "label", "label_key", "category") ?? labelKeys.find((k) => keys.includes(k)) ?? keys.find((k) => rows.some((r) => typeof r[k] === "string"));
  const asked = config.y ?? config.value ?? config.value_key ?? config.series;
  const numeric = keys.filter((k) => k !== label && rows.some((r) => isNumber(r[k])) && rows.every((r) => r[k] === undefined || r[k] === null || isNumber(r[k])));
  const wanted = asked === undefined ? (numeric.find((k) => valueKeys.includes(k)) && numeric.length === 1 ? numeric : numeric.slice(0, 6)) : (Array.isArray(asked) ? asked : [asked]).map((a) => textOf(isObject(a) ? a.key : a));
  if (wanted.length === 0 || !wanted.every((k) => numeric.includes(k))) return undefined;
  return {
    labels: rows.map((r, i) => (label && r[label] !== undefined ? textOf(r[label]) : String(i + 1))),
    series: wanted.map((name) => ({ name, values: rows.map((r) => r[name] ?? null) })),
  };
}

const num = (v: Json | undefined): number => Number(textOf(v ?? 0));
const short = (n: number): string => new Intl.NumberFormat("en", { notation: Math.abs(n) >= 10_000 ? "compact" : "standard", maximumFractionDigits: 2 }).format(n);

// ticks are round numbers from a little below the least to a little above the most.
function ticks(least: number, most: number): number[] {
  if (least === most) most = least + 1;
  const raw = (most - least) / 4;
  const size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((m) => m * size).find((s) => s >= raw)!;
  const first = Math.floor(least / step) * step;
  const out: number[] = [];
  for (let i = 0; i < 12; i++) {
    const at = first + i * step;
    out.push(Number(at.toPrecision(12)));
    if (at >= most) break;
  }
  return out;
}

const most = 60; // Points that are drawn: the table has the others.

export function Chart({ data, kind, label }: { data: Series; kind: string; label: string }) {
  const labels = data.labels.slice(0, kind === "line" ? 500 : most);
  const all = data.series.flatMap((s) => s.values.slice(0, labels.length).filter((v) => v !== null).map(num));
  const scale = ticks(Math.min(0, ...all), Math.max(0, ...all));
  const [bottom, top] = [scale[0]!, scale[scale.length - 1]!];
  const [w, h, left, under] = [640, 240, 52, 26];
  const y = (n: number) => 8 + (h - under - 8) * (1 - (n - bottom) / (top - bottom));
  const slot = (w - left - 8) / labels.length;
  const x = (i: number) => left + slot * (i + 0.5);
  const every = Math.ceil(labels.length / Math.max(1, Math.floor((w - left) / 70)));
  return (
    <>
      <svg className="o-chart" viewBox={`0 0 ${w} ${h}`} role="img" aria-label={`${label}: ${kind} chart of ${labels.length} values; the table below has them`}>
        {scale.map((t) => (
          <g key={t}>
            <line x1={left} x2={w - 8} y1={y(t)} y2={y(t)} className={t === 0 ? "o-axis" : "o-grid"} />
            <text x={left - 6} y={y(t) + 4} textAnchor="end">{short(t)}</text>
          </g>
        ))}
        {labels.map((l, i) => i % every === 0 && (
          <text key={i} x={x(i)} y={h - 8} textAnchor="middle">{l.length > 11 ? l.slice(0, 10) + "…" : l}</text>
        ))}
        {data.series.map((s, k) =>
          kind === "line" ? (
            <g key={k} className={`o-s${k % 6}`}>
              <polyline points={s.values.slice(0, labels.length).map((v, i) => (v === null ? "" : `${x(i)},${y(num(v))}`)).join(" ")} />
              {labels.length <= most && s.values.slice(0, labels.length).map((v, i) => v !== null && (
                <circle key={i} cx={x(i)} cy={y(num(v))} r="3"><title>{`${labels[i]}: ${textOf(v)}`}</title></circle>
              ))}
            </g>
          ) : (
            <g key={k} className={`o-s${k % 6}`}>
              {s.values.slice(0, labels.length).map((v, i) => {
                if (v === null) return null;
                const wide = Math.min(44, (slot * 0.7) / data.series.length);
                const [a, b] = [y(Math.max(0, num(v))), y(Math.min(0, num(v)))];
                return <rect key={i} x={x(i) - (wide * data.series.length) / 2 + wide * k} y={a} width={wide} height={Math.max(1, b - a)} rx="2"><title>{`${labels[i]}: ${textOf(v)}`}</title></rect>;
              })}
            </g>
          ),
        )}
      </svg>
      <Legend data={data} />
    </>
  );
}

function Legend({ data }: { data: Series }) {
  if (data.series.length < 2) return null;
  return (
    <ul className="o-legend">
      {data.series.map((s, k) => (
        <li key={k}>
          <svg viewBox="0 0 14 10" aria-hidden="true" className={`o-s${k % 6}`}><rect x="1" y="1" width="12" height="8" rx="2" /></svg>
          {s.name}
        </li>
      ))}
    </ul>
  );
}

export function Radar({ data, label }: { data: Series; label: string }) {
  const n = data.labels.length;
  const all = data.series.flatMap((s) => s.values.map(num));
  const full = Math.max(...all, 0) || 1;
  const [c, r] = [150, 100];
  const point = (i: number, part: number): [number, number] => {
    const a = (i / n) * 2 * Math.PI - Math.PI / 2;
    return [c + 60 + Math.cos(a) * r * part, c + Math.sin(a) * r * part];
  };
  const ring = (part: number) => data.labels.map((_, i) => point(i, part).map((v) => v.toFixed(1)).join(",")).join(" ");
  return (
    <>
      <svg className="o-chart o-radar" viewBox="0 0 420 300" role="img" aria-label={`${label}: radar of ${n} values; the table below has them`}>
        {[0.25, 0.5, 0.75, 1].map((p) => <polygon key={p} points={ring(p)} className="o-grid" />)}
        {data.labels.map((l, i) => {
          const [x, y] = point(i, 1.14);
          const [ex, ey] = point(i, 1);
          return (
            <g key={i}>
              <line x1={c + 60} y1={c} x2={ex} y2={ey} className="o-grid" />
              <text x={x} y={y + 4} textAnchor={Math.abs(x - c - 60) < 8 ? "middle" : x > c + 60 ? "start" : "end"}>{l.length > 16 ? l.slice(0, 15) + "…" : l}</text>
            </g>
          );
        })}
        {data.series.map((s, k) => (
          <polygon key={k} className={`o-s${k % 6} o-area`} points={s.values.map((v, i) => point(i, Math.max(0, num(v)) / full).map((x) => x.toFixed(1)).join(",")).join(" ")} />
        ))}
      </svg>
      <Legend data={data} />
    </>
  );
}

export function Ranking({ data, label }: { data: Series; label: string }) {
  const values = data.series[0]!.values;
  const full = Math.max(...values.map((v) => Math.abs(num(v))), 0) || 1;
  return (
    <ol className="o-ranking" aria-label={label}>
      {data.labels.map((l, i) => (
        <li key={i}>
          <span className="o-rank">{i + 1}</span>
          <span className="o-name">{l}</span>
          <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" className="o-s0"><rect x="0" y="0" width={(Math.abs(num(values[i])) / full) * 100} height="8" rx="1" /></svg>
          <span className="o-number">{textOf(values[i] ?? null)}</span>
        </li>
      ))}
    </ol>
  );
}

// Twin is what is drawn, as a table.
export function Twin({ data, label, open }: { data: Series; label: string; open?: boolean }) {
  return (
    <details className="o-twin" open={open}>
      <summary>As a table</summary>
      <div className="o-table-wrap" role="region" aria-label={`${label}, as a table`} tabIndex={0}>
        <table className="o-table">
          <caption className="unseen">{label}</caption>
          <thead>
            <tr>
              <th scope="col">Name</th>
              {data.series.map((s, i) => <th key={i} scope="col" className="end">{s.name || "Value"}</th>)}
            </tr>
          </thead>
          <tbody>
            {data.labels.slice(0, 1000).map((l, i) => (
              <tr key={i}>
                <th scope="row">{l}</th>
                {data.series.map((s, k) => <td key={k} className="end">{s.values[i] === null || s.values[i] === undefined ? "–" : textOf(s.values[i])}</td>)}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

// blocks of sections: what draws each type. What does not fit its type is shown as any value is.
export function toolOutputToBlocks(sections: Section[], value: Json | undefined, generic: (v: Json, label: string, columns?: string[]) => ReactNode): { section: Section; body: ReactNode }[] {
  const of = isObject(value) ? value : {};
  return sections.filter((s) => of[s.key] !== undefined).map((section) => {
    const data = of[section.key]!;
    const label = section.label || section.key;
    const config = configOf(section);
    return { section, body: block(section.type, data, label, config, generic) };
  });
}

function block(type: string, data: Json, label: string, config: Members, generic: (v: Json, label: string, columns?: string[]) => ReactNode): ReactNode {
  switch (type) {
    case "summary":
      return <Stats data={data} label={label} config={config} generic={generic} />;
    case "table": {
      const columns = Array.isArray(config.columns) ? config.columns.map((c) => textOf(isObject(c) ? (c.key ?? c.name) : c)) : undefined;
      return generic(data, label, columns);
    }
    case "chart":
    case "radar":
    case "ranking": {
      const series = seriesOf(data, config);
      if (!series || (type === "radar" && series.labels.length < 3)) return generic(data, label);
      const kind = config.type === "line" || config.kind === "line" ? "line" : "bar";
      return (
        <>
          {type === "chart" ? <Chart data={series} kind={kind} label={label} /> : type === "radar" ? <Radar data={series} label={label} /> : <Ranking data={series} label={label} />}
          <Twin data={series} label={label} />
        </>
      );
    }
    default:
      return <CustomBlock data={data} label={label} />;
  }
}

// CustomBlock stands for a view that a client has of its own: here its JSON.
function CustomBlock({ data, label }: { data: Json; label: string }) {
  return <pre className="o-code" tabIndex={0} aria-label={label}>{print(data, 2).slice(0, 100_000)}</pre>;
}

function Stats({ data, label, config, generic }: { data: Json; label: string; config: Members; generic: (v: Json, label: string) => ReactNode }) {
  const unit = typeof config.unit === "string" ? ` ${config.unit}` : "";
  if (isObject(data)) {
    const entries = Object.entries(data);
    if (!entries.every(([, v]) => v === null || typeof v !== "object" || !("length" in v || isObject(v)))) return generic(data, label);
    return (
      <dl className="o-stats">
        {entries.map(([n, v]) => (
          <div key={n}><dt>{n.replaceAll("_", " ")}</dt><dd>{v === null ? "–" : textOf(v)}</dd></div>
        ))}
      </dl>
    );
  }
  if (Array.isArray(data)) return generic(data, label);
  return typeof data === "string" && data.length > 60 ? <p className="text">{data}</p> : <p className="o-stat">{textOf(data)}{unit}</p>;
}
