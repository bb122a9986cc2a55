import { useEffect, useRef, useState } from "react";
import { keysOff } from "./keys";

// Filters are in the URL alone: what is typed goes there at once.

const moment = 40;

export function Search({ value, onChange, label }: { value: string; onChange: (v: string) => void; label: string }) {
  const [text, setText] = useState(value);
  const input = useRef<HTMLInputElement>(null);
  const sent = useRef(value);
  useEffect(() => {
    if (value !== sent.current) setText((sent.current = value));
  }, [value]);
  // The first key asks at once. Those that follow it within a moment ask together, and what was asked before is given up.
  const asked = useRef(0);
  useEffect(() => {
    if (text === sent.current) return;
    const ask = () => {
      asked.current = Date.now();
      onChange((sent.current = text));
    };
    const wait = asked.current + moment - Date.now();
    if (wait <= 0) return ask();
    const timer = setTimeout(ask, wait);
    return () => clearTimeout(timer);
  }, [text, onChange]);
  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      if (e.key !== "/" || keysOff(e)) return;
      e.preventDefault();
      input.current?.focus();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  return (
    <span className="search">
      <input ref={input} type="search" aria-label={label} placeholder={label} value={text} onChange={(e) => setText(e.target.value)} spellCheck={false} />
      <kbd aria-hidden="true">/</kbd>
    </span>
  );
}

export function Choice({ label, value, options, onChange }: {
  label: string;
  value: string;
  options: readonly string[];
  onChange: (v: string) => void;
}) {
  return (
    <label className={value ? "choice set" : "choice"}>
      <span>{label}</span>
      <select value={value} onChange={(e) => onChange(e.target.value)}>
        <option value="">any</option>
        {(value && !options.includes(value) ? [value, ...options] : options).map((o) => (
          <option key={o} value={o}>
            {o.replaceAll("_", " ")}
          </option>
        ))}
      </select>
    </label>
  );
}

// Buckets is a filter of few values, all seen.
export function Buckets({ label, value, options, onChange }: {
  label: string;
  value: string;
  options: readonly (readonly [value: string, name: string])[];
  onChange: (v: string) => void;
}) {
  return (
    <div className="buckets" role="group" aria-label={label}>
      {options.map(([v, name]) => (
        <button key={v} type="button" aria-pressed={v === value} onClick={() => onChange(v)}>
          {name}
        </button>
      ))}
    </div>
  );
}
