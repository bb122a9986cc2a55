import { Suspense, useMemo, useState } from "react";
import { lazyPart } from "../load";
import type { Line } from "./plot";

const Plot = lazyPart(() => import("./plot"));

export interface Series {
  name: string;
  values: number[]; // For the line alone.
  texts: string[]; // What is read, exactly.
  dashed?: boolean;
}

const oneDay = 86_400;

// Days shows numbers of days as lines. The slider below reads a day: with a mouse, the arrow keys, or a
// screen reader; the table has all of them.
export function Days({ label, days, series, format }: { label: string; days: string[]; series: Series[]; format: (v: number) => string }) {
  const [at, setAt] = useState(-1);
  const seconds = useMemo(() => days.map((d) => Date.parse(d + "T00:00:00Z") / 1000), [days]);
  const lines = useMemo(() => series.map((s): Line => ({ name: s.name, values: s.values, ...(s.dashed && { dashed: true }) })), [series]);
  const shown = at < 0 || at >= days.length ? days.length - 1 : at;
  const words = `${days[shown]}: ${series.map((s) => `${s.name} ${s.texts[shown] ?? "–"}`).join(", ")}`;
  return (
    <figure className="days">
      <figcaption className="days-read">
        <span className="version">{days[shown]}</span>
        {series.map((s) => (
          <span key={s.name} className={s.dashed ? "days-line dashed" : "days-line"}>
            {s.name} <strong>{s.texts[shown] ?? "–"}</strong>
          </span>
        ))}
      </figcaption>
      <Suspense fallback={<div className="plot" />}>
        <Plot days={seconds} lines={lines} format={format} at={shown} onAt={setAt} />
      </Suspense>
      <input type="range" className="days-slider" min={0} max={Math.max(0, days.length - 1)} value={shown} aria-label={`${label}: day`} aria-valuetext={words}
        onChange={(e) => setAt(Number(e.target.value))} />
      <details className="twin">
        <summary>The numbers of the chart</summary>
        <div className="twin-box" tabIndex={0} role="region" aria-label={`${label}, as a table`}>
          <table className="small">
            <caption className="unseen">{label}</caption>
            <thead>
              <tr>
                <th scope="col">Day</th>
                {series.map((s) => <th key={s.name} scope="col" className="end">{s.name}</th>)}
              </tr>
            </thead>
            <tbody>
              {days.map((d, i) => (
                <tr key={d}>
                  <th scope="row">{d}</th>
                  {series.map((s) => <td key={s.name} className="end">{s.texts[i] ?? "–"}</td>)}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  );
}

// daysFrom lists the days from the first to the last, both included.
export function daysFrom(from: string, to: string): string[] {
  const out: string[] = [];
  const last = Date.parse(to + "T00:00:00Z") / 1000;
  for (let t = Date.parse(from + "T00:00:00Z") / 1000; t <= last && out.length < 3700; t += oneDay) out.push(new Date(t * 1000).toISOString().slice(0, 10));
  return out;
}

// shiftDay returns the day that is so many days later.
export const shiftDay = (day: string, by: number): string => new Date(Date.parse(day + "T00:00:00Z") + by * oneDay * 1000).toISOString().slice(0, 10);
