import { print, type Json } from "../../api/json";

// LineDiff shows two texts as one, with the lines that were taken out and put in.

const most = 2_000_000; // Pairs of lines that are compared.
const around = 3; // Unchanged lines beside what changed.

type Line = { sign: " " | "+" | "-"; text: string };

export const pretty = (v: Json | undefined): string => (v === undefined ? "" : print(v, 2));

export function lines(before: string, after: string): Line[] {
  const a = before === "" ? [] : before.split("\n");
  const b = after === "" ? [] : after.split("\n");
  if (a.length * b.length > most) {
    return [...a.map((text) => ({ sign: "-" as const, text })), ...b.map((text) => ({ sign: "+" as const, text }))];
  }
  // Lengths of the longest common rest, from the end.
  const rest = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      rest[i]![j] = a[i] === b[j] ? rest[i + 1]![j + 1]! + 1 : Math.max(rest[i + 1]![j]!, rest[i]![j + 1]!);
    }
  }
  const out: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push({ sign: " ", text: a[i++]! });
      j++;
    } else if (i < a.length && (j === b.length || rest[i + 1]![j]! >= rest[i]![j + 1]!)) out.push({ sign: "-", text: a[i++]! });
    else out.push({ sign: "+", text: b[j++]! });
  }
  return out;
}

export function LineDiff({ label, before, after }: { label: string; before: string; after: string }) {
  if (before === after) return <p className="muted">No difference.</p>;
  const all = lines(before, after);
  const near = all.map((_, at) => all.slice(Math.max(0, at - around), at + around + 1).some((l) => l.sign !== " "));
  const rows: (Line | number)[] = [];
  all.forEach((l, at) => {
    const last = rows[rows.length - 1];
    if (near[at]) rows.push(l);
    else if (typeof last === "number") rows[rows.length - 1] = last + 1;
    else rows.push(1);
  });
  return (
    <div className="diff" role="region" aria-label={label} tabIndex={0}>
      {rows.map((r, at) =>
        typeof r === "number" ? (
          <div key={at} className="diff-same">{r} unchanged line{r === 1 ? "" : "s"}</div>
        ) : (
          <div key={at} className={r.sign === "+" ? "diff-in" : r.sign === "-" ? "diff-out" : undefined}>
            <span aria-hidden="true" className="diff-sign">{r.sign}</span>
            {r.sign !== " " && <span className="unseen">{r.sign === "+" ? "added: " : "removed: "}</span>}
            {r.text}
          </div>
        ),
      )}
    </div>
  );
}
