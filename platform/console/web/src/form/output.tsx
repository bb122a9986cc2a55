import { Suspense, useMemo, useState, type ReactNode } from "react";
import { Num, print, type Json } from "../api/json";
import type { AppOf } from "../apps/app";
import { lazyPart } from "../load";
import { JsonView } from "../ui/json";
import { bootstrapFieldRegistry } from "./bootstrap";
import { FieldDefinitionDisplay } from "./show";
import { equal, isObject, textOf, type FormSpec, type Members, type Section } from "./spec";
import { OutputContext, toolOutputToBlocks } from "./views";

bootstrapFieldRegistry();

const AppView = lazyPart(() => import("../apps/app"));

// What a tool answered. All of it is text of others: nothing is run, and nothing is loaded from elsewhere.

export interface Part {
  type: string;
  text?: string;
  json?: Json;
  data?: string; // Base64.
  mime_type?: string;
  uri?: string;
  name?: string;
}

export interface Result {
  content?: Part[];
  structured?: Json;
  is_error?: boolean;
  warnings?: string[];
  output_mismatch?: string;
}

// Output shows a result, or a value alone: by the app of its tool, by its sections, then by its form, then as it is.
export function Output({ result, value, spec, sections, app, tenant = "", label = "Output" }: {
  result?: Result | undefined;
  value?: Json | undefined;
  spec?: FormSpec | undefined;
  sections?: Section[] | undefined;
  app?: AppOf | undefined;
  tenant?: string;
  label?: string;
}) {
  const [raw, setRaw] = useState(false);
  const context = useMemo(() => ({ tenant }), [tenant]);
  const of = result ? result.structured : value;
  const parts = result?.content ?? [];
  const shown = of === undefined ? parts : parts.filter((p) => !repeats(p, of));
  return (
    <OutputContext value={context}>
      <div className="o-output" role="group" aria-label={label}>
        <div className="o-tools">
          <button type="button" className="quiet" aria-pressed={raw} onClick={() => setRaw(!raw)}>{raw ? "View" : "JSON"}</button>
        </div>
        {raw ? (
          <JsonView value={(result as unknown as Json) ?? value} label={label} />
        ) : (
          <>
            <WithApp tenant={tenant} app={app} result={result}>
            {result?.is_error && <p className="notice bad">The tool answered that it failed.</p>}
            {result?.warnings?.map((w) => <p key={w} className="notice">{w}</p>)}
            {result?.output_mismatch && <p className="notice">The answer is not what the tool declares: {result.output_mismatch}</p>}
            {of !== undefined && <Structured value={of} spec={spec} sections={sections} />}
            {shown.map((p, i) => <PartView key={i} of={p} />)}
            {of === undefined && shown.length === 0 && <p className="none">The tool answered nothing.</p>}
            </WithApp>
          </>
        )}
      </div>
    </OutputContext>
  );
}

// WithApp shows a result by the app of its tool, where there is one.
function WithApp({ tenant, app, result, children }: { tenant: string; app: AppOf | undefined; result: Result | undefined; children: ReactNode }) {
  if (!app || !result) return children;
  return <Suspense fallback={children}><AppView tenant={tenant} of={app} result={result}>{children}</AppView></Suspense>;
}

// repeats reports whether a part says what the structured value says.
function repeats(p: Part, value: Json): boolean {
  if (p.type === "json") return equal(p.json, value);
  return p.type === "text" && p.text === print(value);
}

function Structured({ value, spec, sections = [] }: { value: Json; spec?: FormSpec | undefined; sections?: Section[] | undefined }) {
  const blocks = toolOutputToBlocks(sections, value, (v, label, columns) => <Generic value={v} label={label} columns={columns} />);
  const fields = spec?.fields ?? [];
  if (blocks.length === 0) return fields.length > 0 ? <FieldDefinitionDisplay fields={fields} value={value} /> : <Generic value={value} label="Result" />;
  const drawn = new Set(blocks.map((b) => b.section.key));
  const rest: Members = isObject(value) ? Object.fromEntries(Object.entries(value).filter(([n]) => !drawn.has(n))) : {};
  return (
    <>
      {blocks.map(({ section: s, body }) => (
        <section key={s.key} className={`o-section o-${s.type}`} aria-label={s.label || s.key}>
          <h3>{s.label || s.key.replaceAll("_", " ")}</h3>
          {body}
        </section>
      ))}
      {Object.keys(rest).length > 0 && (
        <details className="o-twin">
          <summary>The rest of the result</summary>
          <FieldDefinitionDisplay fields={fields.filter((f) => !drawn.has(f.key))} value={rest} />
        </details>
      )}
    </>
  );
}

const scalar = (v: Json | undefined): boolean => v === undefined || v === null || typeof v !== "object" || v instanceof Num;
const deepest = 4;

// Generic shows any value: names and values, tables of rows, and JSON where it is deep.
export function Generic({ value, label, columns, depth = 0 }: { value: Json; label: string; columns?: string[] | undefined; depth?: number }) {
  const [rows, setRows] = useState(50);
  if (scalar(value)) {
    const text = value === null ? "null" : textOf(value);
    if (text.length > 20_000) return <Long text={text} label={label} />;
    return typeof value === "string" && (text.includes("\n") || text.length > 120) ? <div className="text">{text}</div> : <span className={typeof value === "string" ? "o-text" : "o-number"}>{text}</span>;
  }
  if (depth >= deepest) return <JsonView value={value} label={label} />;
  if (Array.isArray(value)) {
    if (value.length === 0) return <span className="none">none</span>;
    const more = value.length > rows && (
      <button type="button" className="quiet" onClick={() => setRows(rows + 200)}>{value.length - rows} more</button>
    );
    if (value.every(isObject)) {
      const names = columns ?? [...new Set((value as Members[]).slice(0, 100).flatMap((r) => Object.keys(r)))];
      if (names.length > 0 && names.length <= 24) {
        return (
          <>
            <div className="o-table-wrap" role="region" aria-label={label} tabIndex={0}>
              <table className="o-table">
                <caption className="unseen">{label}</caption>
                <thead><tr>{names.map((n) => <th key={n} scope="col">{n.replaceAll("_", " ")}</th>)}</tr></thead>
                <tbody>
                  {(value as Members[]).slice(0, rows).map((r, i) => (
                    <tr key={i}>
                      {names.map((n) => (
                        <td key={n} className={typeof r[n] === "number" || r[n] instanceof Num ? "end" : undefined}>
                          {r[n] === undefined ? <span className="none">–</span> : <Generic value={r[n]} label={n} depth={depth + 2} />}
                        </td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
            {more}
          </>
        );
      }
    }
    return (
      <>
        <ol className="o-list">
          {value.slice(0, rows).map((v, i) => <li key={i}><Generic value={v} label={`${label} ${i + 1}`} depth={depth + 1} /></li>)}
        </ol>
        {more}
      </>
    );
  }
  const entries = Object.entries(value as Members);
  if (entries.length === 0) return <span className="none">empty</span>;
  return (
    <>
      <dl className="o-facts">
        {entries.slice(0, rows).map(([n, v]) => (
          <div key={n}>
            <dt>{n}</dt>
            <dd><Generic value={v} label={n} depth={depth + 1} /></dd>
          </div>
        ))}
      </dl>
      {entries.length > rows && <button type="button" className="quiet" onClick={() => setRows(rows + 200)}>{entries.length - rows} more</button>}
    </>
  );
}

function Long({ text, label }: { text: string; label: string }) {
  const [most, setMost] = useState(20_000);
  return (
    <div>
      <pre className="o-code" tabIndex={0} aria-label={label}>{text.slice(0, most)}</pre>
      {text.length > most && <button type="button" className="quiet" onClick={() => setMost(most + 200_000)}>{text.length - most} more characters</button>}
    </div>
  );
}

const pictures = /^image\/(png|jpeg|gif|webp)$/;

// PartView is a block of the content. Pictures are shown where their bytes are in the answer, and are of a kind that
// runs nothing.
export function PartView({ of: p }: { of: Part }) {
  if (p.type === "json") return <Generic value={p.json ?? null} label={p.name ?? "JSON"} />;
  if (p.type === "image" && p.data && p.mime_type && pictures.test(p.mime_type) && p.data.length < 14_000_000 && /^[A-Za-z0-9+/=]+$/.test(p.data)) {
    return (
      <figure className="o-figure">
        <img src={`data:${p.mime_type};base64,${p.data}`} alt={p.name ?? "Image of the answer"} />
        {p.name && <figcaption>{p.name}</figcaption>}
      </figure>
    );
  }
  if (p.uri) return <ResourceLink of={p} />;
  if (p.text !== undefined) return <Generic value={p.text} label={p.name ?? "Text"} />;
  const { data, ...rest } = p;
  return <JsonView value={{ ...rest, ...(data && { bytes: Math.floor((data.length * 3) / 4) }) } as Json} label={`Content of type ${p.type}`} />;
}

function ResourceLink({ of: p }: { of: Part }) {
  const safe = /^https?:\/\//i.test(p.uri!) ? p.uri : undefined;
  let host = "";
  try {
    host = safe ? new URL(safe).host : "";
  } catch {
    // It is shown as text.
  }
  return (
    <p className="o-link">
      {host ? (
        <a href={safe} target="_blank" rel="noopener noreferrer nofollow ugc">{p.name ?? p.uri}</a>
      ) : (
        <code>{p.name ? `${p.name}: ${p.uri}` : p.uri}</code>
      )}{" "}
      <span className="muted">{[p.mime_type, host && `at ${host}`].filter(Boolean).join(", ")}</span>
      {p.text !== undefined && <span className="text">{p.text}</span>}
    </p>
  );
}
