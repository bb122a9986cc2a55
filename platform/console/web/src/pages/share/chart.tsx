import { Num, type Json } from "../../api/json";
import type { CallProps } from "./calls";
import { GenericToolCallPart } from "./generic";

const most = 60;

interface Point {
  label: string;
  value: number;
  text: string;
}

// ChartCall draws numbers as bars, with the numbers in a table beside them. What has another form is drawn as
// any call is.
export function ChartCall(props: CallProps) {
  const input = props.call.input as { [name: string]: Json } | undefined;
  const points = read(input?.points ?? input?.data ?? input?.values, input?.labels);
  if (!points) return <GenericToolCallPart {...props} />;
  const title = typeof input?.title === "string" ? input.title : "Chart";
  const low = Math.min(0, ...points.map((p) => p.value));
  const high = Math.max(0, ...points.map((p) => p.value));
  const scale = 96 / (high - low || 1);
  const width = 360 / points.length;
  return (
    <figure className="small-chart">
      <figcaption>{title}</figcaption>
      <svg viewBox="0 0 360 100" preserveAspectRatio="none" role="img" aria-label={`${title}: ${points.length} values`}>
        {points.map((p, i) => (
          <rect key={i} x={i * width + width * 0.1} width={width * 0.8} y={98 - (Math.max(p.value, 0) - low) * scale}
            height={Math.max(Math.abs(p.value) * scale, 0.8)} />
        ))}
      </svg>
      <details>
        <summary>As a table</summary>
        <table className="numbers">
          <thead>
            <tr><th scope="col">Label</th><th scope="col">Value</th></tr>
          </thead>
          <tbody>
            {points.map((p, i) => (
              <tr key={i}><td>{p.label}</td><td>{p.text}</td></tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

function read(of: Json | undefined, labels: Json | undefined): Point[] | undefined {
  if (!Array.isArray(of) || of.length === 0 || of.length > most) return undefined;
  const points: Point[] = [];
  for (const [i, p] of of.entries()) {
    const object = p !== null && typeof p === "object" && !Array.isArray(p) && !(p instanceof Num) ? p : undefined;
    const raw = object ? (object.value ?? object.y) : p;
    const value = typeof raw === "number" ? raw : raw instanceof Num ? Number(raw.text) : NaN;
    if (!Number.isFinite(value)) return undefined;
    const named = object ? (object.label ?? object.name ?? object.x) : Array.isArray(labels) ? labels[i] : undefined;
    points.push({ value, text: String(raw), label: named === undefined || (named !== null && typeof named === "object" && !(named instanceof Num)) ? String(i + 1) : String(named) });
  }
  return points;
}
