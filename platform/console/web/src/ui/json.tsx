import { memo, useState } from "react";
import { Num, print, printSome, type Json } from "../api/json";
import { Copy } from "./parts";

// A viewer of JSON, of text nodes alone. What is long is opened on demand, so that a large value costs
// what is seen of it.

const first = 100; // Members and items that are shown at once.
const long = 2000; // Characters of a string.

export const JsonView = memo(function JsonView({ value, label }: { value: Json | undefined; label: string }) {
  const [asText, setAsText] = useState(false);
  if (value === undefined) return <p className="none">–</p>;
  return (
    <div className="json" role="group" aria-label={label}>
      <div className="json-tools">
        <button type="button" className="quiet" aria-pressed={asText} onClick={() => setAsText(!asText)}>
          {asText ? "Tree" : "Text"}
        </button>
        <Copy text={() => print(value, 2)} label={`Copy ${label.toLowerCase()}`} />
      </div>
      {asText ? (
        <pre tabIndex={0} aria-label={label}>{printSome(value, 200_000)}</pre>
      ) : (
        <div className="json-tree" tabIndex={0} role="region" aria-label={`${label}, as a tree`}>
          <Node value={value} depth={0} />
        </div>
      )}
    </div>
  );
});

function Node({ name, value, depth }: { name?: string; value: Json; depth: number }) {
  const label = name !== undefined && <span className="json-name">{name}</span>;
  if (value === null || typeof value !== "object" || value instanceof Num) {
    return (
      <div className="json-line">
        {label} <Leaf value={value} />
      </div>
    );
  }
  const list = Array.isArray(value);
  const members: [string, Json][] = list ? value.map((v, i) => [String(i), v]) : Object.entries(value);
  const size = list ? `${members.length} item${members.length === 1 ? "" : "s"}` : `${members.length} member${members.length === 1 ? "" : "s"}`;
  if (members.length === 0) {
    return (
      <div className="json-line">
        {label} <span className="json-size">{list ? "[ ]" : "{ }"}</span>
      </div>
    );
  }
  return <Branch label={label} size={size} members={members} depth={depth} />;
}

function Branch({ label, size, members, depth }: { label: React.ReactNode; size: string; members: [string, Json][]; depth: number }) {
  const [open, setOpen] = useState(depth < 3);
  const [shown, setShown] = useState(first);
  return (
    <details className="json-branch" open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        {label} <span className="json-size">{size}</span>
      </summary>
      {open && (
        <div className="json-members">
          {members.slice(0, shown).map(([n, v]) => (
            <Node key={n} name={n} value={v} depth={depth + 1} />
          ))}
          {members.length > shown && (
            <button type="button" className="quiet" onClick={() => setShown(shown + 10 * first)}>
              {members.length - shown} more
            </button>
          )}
        </div>
      )}
    </details>
  );
}

function Leaf({ value }: { value: Exclude<Json, Json[] | { [name: string]: Json }> }) {
  const [shown, setShown] = useState(long);
  if (typeof value === "string") {
    const cut = value.length > shown;
    return (
      <span className="json-string">
        {JSON.stringify(cut ? value.slice(0, shown) : value)}
        {cut && (
          <button type="button" className="quiet" onClick={() => setShown(shown + 100 * long)}>
            {value.length - shown} more characters
          </button>
        )}
      </span>
    );
  }
  return <span className="json-value">{value instanceof Num ? value.text : String(value)}</span>;
}
