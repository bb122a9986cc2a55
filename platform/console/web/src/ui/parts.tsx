import { Link } from "@tanstack/react-router";
import { useState, type ReactNode } from "react";
import { say } from "./live";

// Small parts that every page has.

export function Copy({ text, label = "Copy" }: { text: string | (() => string); label?: string }) {
  const [done, setDone] = useState(false);
  return (
    <button
      type="button"
      className="copy"
      aria-label={label}
      title={label}
      onClick={async () => {
        await navigator.clipboard.writeText(typeof text === "string" ? text : text());
        setDone(true);
        say("Copied");
        setTimeout(() => setDone(false), 1500);
      }}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {done ? <path d="M3 8.5l3.2 3.2L13 5" /> : <path d="M5.5 5.5h7v8h-7zM10.5 5.5v-3h-7v8h2" />}
      </svg>
    </button>
  );
}

// Id shows an id whole to those who copy it, and its end to those who read.
export function Id({ value }: { value: string }) {
  return (
    <span className="id">
      <code title={value}>{value.length > 13 ? "…" + value.slice(-12) : value}</code>
      <Copy text={value} label={`Copy ${value}`} />
    </span>
  );
}

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ["year", 31_557_600], ["month", 2_629_800], ["day", 86_400], ["hour", 3600], ["minute", 60],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });

export function ago(at: string, now = Date.now()): string {
  const seconds = (Date.parse(at) - now) / 1000;
  const unit = units.find(([, size]) => Math.abs(seconds) >= size);
  return unit ? relative.format(Math.trunc(seconds / unit[1]), unit[0]) : Math.abs(seconds) < 5 ? "now" : relative.format(Math.trunc(seconds), "second");
}

// Time is how long ago it was; the moment itself, in UTC, is its title.
export function Time({ at }: { at?: string | undefined }) {
  if (!at) return <span className="none">–</span>;
  return (
    <time dateTime={at} title={at.replace("T", " ").replace(/\.\d+/, "").replace("Z", " UTC")}>
      {ago(at)}
    </time>
  );
}

export function took(from?: string, to?: string): string {
  if (!from || !to) return "–";
  const ms = Date.parse(to) - Date.parse(from);
  if (ms < 1000) return `${ms} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const s = Math.round(ms / 1000); // Rounded before it is parted: there are no 60 s in a minute.
  return s < 3600 ? `${Math.floor(s / 60)} min ${s % 60} s` : `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
}

const tones: Record<string, string> = {
  published: "good", completed: "good", approved: "good",
  running: "live", pending: "wait", waiting: "wait", hosted: "live", paused: "wait",
  complete: "good", requires_action: "wait",
  failed: "bad", rejected: "bad", unknown: "bad", disabled: "bad", quarantined: "bad", high: "bad", write: "warn",
  active: "good", valid: "good", done: "good", delivered: "good", started: "good", starting: "wait", failing: "warn",
  ready: "good", ingesting: "wait", embedding: "wait", sending: "live", stored: "good",
  refused: "bad", revoked: "bad", suspended: "bad",
  deprecated: "warn", expired: "warn", medium: "warn", draft: "", cancelled: "", low: "",
};

// Status is a word with a mark: never colour alone.
export function Status({ value }: { value: string }) {
  return <span className={`status ${tones[value] ?? ""}`}>{value.replaceAll("_", " ")}</span>;
}

export function Badge({ children, tone = "" }: { children: ReactNode; tone?: string }) {
  return <span className={`badge ${tone}`}>{children}</span>;
}

export function Facts({ of }: { of: [string, ReactNode][] }) {
  return (
    <dl className="facts">
      {of.filter(([, v]) => v !== undefined && v !== null && v !== "" && v !== false).map(([name, v]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{v}</dd>
        </div>
      ))}
    </dl>
  );
}

// Text is what people, tools and models wrote: as text.
export function Text({ children }: { children: string }) {
  return <div className="text">{children}</div>;
}

export function Back({ to, params, children }: { to: string; params: Record<string, string>; children: ReactNode }) {
  return (
    <Link to={to} params={params} className="back">
      ← {children}
    </Link>
  );
}
