import type { ReactNode } from "react";

// Bars of one size, drawn as SVG without a library. What they show is beside them as text: the table is the
// chart's twin.

export interface BarRow {
  key: string;
  name: ReactNode;
  value: number; // Of the bar alone: what is read is text.
  text: ReactNode;
  detail?: ReactNode;
}

// Bars ranks rows: each has a bar as long as its share of the largest.
export function Bars({ label, head, rows }: { label: string; head: [name: string, value: string]; rows: BarRow[] }) {
  const most = Math.max(0, ...rows.map((r) => r.value));
  return (
    <table className="bars">
      <caption className="unseen">{label}</caption>
      <thead className="unseen">
        <tr>
          <th scope="col">{head[0]}</th>
          <th scope="col">{head[1]}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((r) => (
          <tr key={r.key}>
            <th scope="row">
              <span className="bars-name">{r.name}</span>
              <Bar part={most > 0 ? r.value / most : 0} />
            </th>
            <td>
              {r.text}
              {r.detail && <span className="muted"> {r.detail}</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

// Bar is a part of a whole, from 0 to 1.
export function Bar({ part }: { part: number }) {
  return (
    <svg className="gauge" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect className="bar-room" width="100" height="4" />
      <rect className="bar-full" width={Math.max(part > 0 ? 0.7 : 0, Math.min(1, part) * 100)} height="4" />
    </svg>
  );
}

export interface Part {
  name: string;
  value: number;
  text: string;
  tone?: "full" | "held" | "warn" | "bad" | "other";
}

// StackedBar is what a whole is made of; what is left of it is empty. Its title and its legend say the same.
export function StackedBar({ label, parts, whole, legend = true }: { label: string; parts: Part[]; whole: number; legend?: boolean }) {
  const all = Math.max(whole, parts.reduce((n, p) => n + p.value, 0));
  let at = 0;
  return (
    <div className="stacked">
      <svg className="gauge thick" viewBox="0 0 100 8" preserveAspectRatio="none" role="img" aria-label={`${label}: ${parts.map((p) => `${p.name} ${p.text}`).join(", ")}`}>
        <title>{parts.map((p) => `${p.name} ${p.text}`).join(", ")}</title>
        <rect className="bar-room" width="100" height="8" />
        {parts.map((p) => {
          const width = all > 0 ? (p.value / all) * 100 : 0;
          const rect = <rect key={p.name} className={`bar-${p.tone ?? "full"}`} x={at} width={p.value > 0 ? Math.max(0.7, width) : 0} height="8" />;
          at += width;
          return rect;
        })}
      </svg>
      {legend && (
        <ul className="gauge-legend">
          {parts.map((p) => (
            <li key={p.name}>
              <svg viewBox="0 0 10 10" aria-hidden="true">
                <rect className={`bar-${p.tone ?? "full"}`} width="10" height="10" rx="2" />
              </svg>
              {p.name} <strong>{p.text}</strong>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

// Sparkline is how a number went: its title says from where to where.
export function Sparkline({ label, values }: { label: string; values: number[] }) {
  const most = Math.max(1e-9, ...values);
  const step = values.length > 1 ? 100 / (values.length - 1) : 0;
  const points = values.map((v, i) => `${(i * step).toFixed(2)},${(22 - (v / most) * 20).toFixed(2)}`).join(" ");
  return (
    <svg className="spark" viewBox="0 0 100 24" preserveAspectRatio="none" role="img" aria-label={label}>
      <title>{label}</title>
      {values.length > 1 ? <polyline points={points} /> : <circle cx="50" cy="12" r="2" />}
    </svg>
  );
}
