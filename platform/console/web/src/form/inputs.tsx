import { useRef, useState } from "react";
import { Num, print, type Json } from "../api/json";
import { Frame, usePart, type InputProps } from "./frame";
import { equal, numberOf, textOf, type Option } from "./spec";

// Inputs of one value. What a person has not filled in is left out, as on the pages that ask for input.

const given = (text: string): string | undefined => (text === "" ? undefined : text);

export function TextInput(p: InputProps) {
  const part = usePart(p);
  const kind = { url: "url", email: "email", phone: "tel" }[p.field.type] ?? "text";
  return (
    <Frame of={p} part={part}>
      <input id={part.id} type={kind} value={textOf(part.value)} placeholder={p.field.placeholder} autoComplete="off" spellCheck={false} dir="auto"
        {...part.described} onChange={(e) => part.set(given(e.target.value))} />
    </Frame>
  );
}

// LinkInput has the address, and opens it.
export function LinkInput(p: InputProps) {
  const part = usePart(p);
  const href = linkOf(p.field.type, part.value);
  return (
    <Frame of={p} part={part}>
      <span className="f-row">
        <input id={part.id} type={{ url: "url", email: "email", phone: "tel" }[p.field.type] ?? "url"} value={textOf(part.value)}
          placeholder={p.field.placeholder} autoComplete="off" {...part.described} onChange={(e) => part.set(given(e.target.value))} />
        {href && (
          <a className="button" href={href} target="_blank" rel="noopener noreferrer nofollow ugc">
            Open
          </a>
        )}
      </span>
    </Frame>
  );
}

// linkOf is an address that may be opened, of those that a person or a tool wrote.
export function linkOf(type: string, v: Json | undefined): string | undefined {
  if (typeof v !== "string" || v === "") return undefined;
  if (type === "email") return /^[^\s@<>"?&]+@[^\s@<>"?&]+$/.test(v) ? `mailto:${v}` : undefined;
  if (type === "phone") return /^\+?[\d\s()./-]+$/.test(v) ? `tel:${v.replace(/[^\d+]/g, "")}` : undefined;
  try {
    const url = new URL(v);
    return url.protocol === "https:" || url.protocol === "http:" ? url.href : undefined;
  } catch {
    return undefined;
  }
}

export function AreaInput(p: InputProps) {
  const part = usePart(p);
  const code = p.field.display === "code";
  const text = textOf(part.value);
  return (
    <Frame of={p} part={part}
      end={p.field.max_length !== undefined && <span className="f-count">{[...text].length} of {p.field.max_length}</span>}>
      <textarea id={part.id} className={code ? "code" : undefined} rows={code ? 8 : 4} value={text} placeholder={p.field.placeholder} dir={code ? "ltr" : "auto"}
        spellCheck={!code} {...part.described} onChange={(e) => part.set(given(e.target.value))} />
    </Frame>
  );
}

// NumberInput keeps a number as it is written: 1.10 stays 1.10, and no digit of an int64 is lost.
export function NumberInput(p: InputProps) {
  const part = usePart(p);
  const unit = p.field.unit ?? (p.field.display === "percent" ? "%" : undefined);
  return (
    <Frame of={p} part={part}>
      <span className="f-row">
        <input id={part.id} type="text" inputMode={p.field.integer ? "numeric" : "decimal"} className="f-number" value={textOf(part.value)}
          placeholder={p.field.placeholder} autoComplete="off" {...part.described} onChange={(e) => part.set(numberOf(e.target.value))}
          onKeyDown={(e) => {
            if (e.key !== "ArrowUp" && e.key !== "ArrowDown") return;
            const next = stepped(part.value, p.field.step ?? 1, e.key === "ArrowUp");
            if (next === undefined) return;
            e.preventDefault();
            part.set(next);
          }} />
        {unit && <span className="muted">{unit}</span>}
      </span>
    </Frame>
  );
}

// stepped is the next number. Whole numbers of any size are exact.
function stepped(v: Json | undefined, step: Json, up: boolean): Json | undefined {
  const [a, b] = [textOf(v ?? 0), textOf(step)];
  if (/^-?\d+$/.test(a) && /^\d+$/.test(b)) return numberOf(String(up ? BigInt(a) + BigInt(b) : BigInt(a) - BigInt(b)));
  const n = Number(a) + (up ? 1 : -1) * Number(b);
  return Number.isFinite(n) ? numberOf(String(Number(n.toFixed(10)))) : undefined;
}

export function SliderInput(p: InputProps) {
  const part = usePart(p);
  const { min, max, step, integer } = p.field;
  return (
    <Frame of={p} part={part}>
      <span className="f-row">
        <input id={part.id} type="range" min={textOf(min)} max={textOf(max)} step={step !== undefined ? textOf(step) : integer ? 1 : "any"}
          value={part.value === undefined ? textOf(min) : textOf(part.value)} aria-valuetext={part.value === undefined ? "not set" : textOf(part.value)}
          {...part.described} onChange={(e) => part.set(numberOf(e.target.value))} />
        <output htmlFor={part.id} className="f-output">{part.value === undefined ? "not set" : textOf(part.value)} {p.field.unit}</output>
        {part.value !== undefined && !p.required && <Clear part={part} />}
      </span>
    </Frame>
  );
}

export function RatingInput(p: InputProps) {
  const part = usePart(p);
  const least = Number(textOf(p.field.min ?? 1)) || 1;
  const most = Math.min(Number(textOf(p.field.max ?? 5)) || 5, least + 19);
  return (
    <Frame of={p} part={part} set>
      <div className="f-rating" role="radiogroup" aria-label={p.field.label ?? p.field.key}>
        {Array.from({ length: most - least + 1 }, (_, i) => least + i).map((n) => (
          <label key={n} data-on={typeof part.value === "number" && part.value >= n}>
            <input type="radio" name={part.id} className="unseen" checked={part.value === n} onChange={() => part.set(n)} />
            <span aria-hidden="true">★</span>
            <span className="unseen">{n} of {most}</span>
          </label>
        ))}
        {part.value !== undefined && <span className="muted">{textOf(part.value)} of {most}</span>}
        {part.value !== undefined && !p.required && <Clear part={part} />}
      </div>
    </Frame>
  );
}

function Clear({ part }: { part: { set: (v: undefined) => void; id: string } }) {
  return (
    <button type="button" className="quiet" onClick={() => part.set(undefined)}>
      Clear
    </button>
  );
}

// BooleanInput is a switch or a check box; where an answer is required, and none is the default, the person says
// yes or no.
export function BooleanInput(p: InputProps) {
  const part = usePart(p);
  if (p.required && p.field.default === undefined && !p.bare) {
    return (
      <Frame of={p} part={part} set>
        <div className="f-choices f-beside">
          {[true, false].map((v) => (
            <label key={String(v)}>
              <input type="radio" name={part.id} checked={part.value === v} onChange={() => part.set(v)} />
              {v ? "Yes" : "No"}
            </label>
          ))}
        </div>
      </Frame>
    );
  }
  const box = p.field.display === "checkbox" || p.bare;
  return (
    <Frame of={p} part={part}>
      <span className="f-row">
        <input id={part.id} type="checkbox" {...(!box && { role: "switch", className: "f-switch" })} checked={part.value === true} {...part.described}
          onChange={(e) => part.set(e.target.checked)} />
        <span className="muted">{part.value === true ? "Yes" : part.value === false ? "No" : "Not set"}</span>
        {part.value !== undefined && !p.required && <Clear part={part} />}
      </span>
    </Frame>
  );
}

// DateInput keeps moments as RFC 3339 in UTC, and shows them in the zone of the browser.
export function DateInput(p: InputProps) {
  const part = usePart(p);
  const text = textOf(part.value);
  const display = p.field.display ?? "date";
  if (display === "datetime") {
    const at = text === "" ? "" : local(text);
    return (
      <Frame of={p} part={part} end={<span className="f-count">{Intl.DateTimeFormat().resolvedOptions().timeZone}</span>}>
        {at === undefined ? (
          <input id={part.id} type="text" value={text} {...part.described} onChange={(e) => part.set(given(e.target.value))} />
        ) : (
          <input id={part.id} type="datetime-local" step={1} value={at} {...part.described} onChange={(e) => {
            const d = new Date(e.target.value);
            part.set(e.target.value === "" || Number.isNaN(d.getTime()) ? undefined : d.toISOString().replace(".000Z", "Z"));
          }} />
        )}
      </Frame>
    );
  }
  // A format may ask for a zone, which the inputs of browsers do not have.
  const plain = display === "time" ? p.field.format !== "time" && /^(\d\d:\d\d(:\d\d)?)?$/.test(text) : /^(\d{4}-\d\d-\d\d)?$/.test(text);
  return (
    <Frame of={p} part={part}>
      <input id={part.id} type={plain ? display : "text"} value={text} placeholder={p.field.placeholder ?? (display === "time" ? "12:30:00Z" : "2026-12-31")}
        {...part.described} onChange={(e) => part.set(given(e.target.value))} />
    </Frame>
  );
}

function local(text: string): string | undefined {
  const d = new Date(text);
  if (Number.isNaN(d.getTime()) || !/^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d/.test(text) || d.getMilliseconds() !== 0) return undefined;
  const two = (n: number) => String(n).padStart(2, "0");
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}T${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

const nameOfOption = (o: Option): string => o.label || textOf(o.value);

export function EnumInput(p: InputProps) {
  const part = usePart(p);
  const options = p.field.options ?? [];
  const display = p.field.display ?? "select";
  if (p.field.multiple) return <Several {...p} />;
  const at = options.findIndex((o) => equal(o.value, part.value));
  const strange = part.value !== undefined && part.value !== null && at < 0;
  if (display === "select" || p.bare) {
    return (
      <Frame of={p} part={part}>
        <select id={part.id} value={strange ? "strange" : at < 0 ? "" : String(at)} {...part.described}
          onChange={(e) => part.set(e.target.value === "" ? undefined : options[Number(e.target.value)]!.value)}>
          <option value="">{p.field.placeholder || "–"}</option>
          {strange && <option value="strange" disabled>{print(part.value)}</option>}
          {options.map((o, i) => (
            <option key={i} value={i}>{nameOfOption(o)}</option>
          ))}
        </select>
      </Frame>
    );
  }
  return (
    <Frame of={p} part={part} set>
      <div className={display === "chips" ? "f-chips" : "f-choices"} role="radiogroup" aria-label={p.field.label ?? p.field.key}>
        {options.map((o, i) => (
          <label key={i}>
            <input type="radio" name={part.id} checked={i === at} onChange={() => part.set(o.value)} />
            {nameOfOption(o)}
          </label>
        ))}
        {strange && <span className="badge warn">{print(part.value)}</span>}
        {part.value !== undefined && !p.required && <Clear part={part} />}
      </div>
    </Frame>
  );
}

// Several are options to tick: those of a long list are searched.
function Several(p: InputProps) {
  const part = usePart(p);
  const [search, setSearch] = useState("");
  const options = p.field.options ?? [];
  const list = Array.isArray(part.value) ? part.value : [];
  const toggle = (v: Json, on: boolean) => {
    const next = on ? options.map((o) => o.value).filter((x) => equal(x, v) || list.some((y) => equal(x, y))) : list.filter((x) => !equal(x, v));
    part.set(next.length || p.required ? next : undefined);
  };
  const long = options.length > 12;
  const seen = options.filter((o) => nameOfOption(o).toLowerCase().includes(search.toLowerCase()));
  return (
    <Frame of={p} part={part} set end={<span className="f-count">{list.length} chosen</span>}>
      {long && <input type="search" aria-label={`Search in ${p.field.label ?? p.field.key}`} placeholder="Search" value={search} onChange={(e) => setSearch(e.target.value)} />}
      <div className={`${p.field.display === "chips" ? "f-chips" : "f-choices"}${long ? " long" : ""}`}>
        {seen.map((o, i) => (
          <label key={i}>
            <input type="checkbox" checked={list.some((x) => equal(x, o.value))} onChange={(e) => toggle(o.value, e.target.checked)} />
            {nameOfOption(o)}
          </label>
        ))}
        {seen.length === 0 && <span className="muted">None matches</span>}
      </div>
    </Frame>
  );
}

// TagsInput is a list of texts or numbers, one after the other.
export function TagsInput(p: InputProps) {
  const part = usePart(p);
  const [text, setText] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const list = Array.isArray(part.value) ? part.value : [];
  const item = p.field.items;
  const add = () => {
    const parts = text.split(",").map((t) => t.trim()).filter(Boolean);
    if (parts.length === 0) return;
    part.set([...list, ...parts.map((t) => (item?.type === "number" ? numberOf(t)! : t))]);
    setText("");
  };
  const remove = (i: number) => {
    const next = list.filter((_, j) => j !== i);
    part.set(next.length || p.required ? next : undefined);
    input.current?.focus();
  };
  return (
    <Frame of={p} part={part}>
      <div className="f-tags">
        {list.map((v, i) => (
          <span key={i} className="f-tag">
            {v instanceof Num || typeof v !== "object" ? textOf(v) : print(v)}
            <button type="button" className="quiet" aria-label={`Remove ${textOf(v)}`} onClick={() => remove(i)}>✕</button>
          </span>
        ))}
        <input id={part.id} ref={input} value={text} placeholder={p.field.placeholder ?? "Add, then Enter"} autoComplete="off" {...part.described}
          onChange={(e) => setText(e.target.value)} onBlur={add}
          onKeyDown={(e) => {
            if (e.key === "Enter" || e.key === ",") {
              e.preventDefault();
              add();
            } else if (e.key === "Backspace" && text === "" && list.length) remove(list.length - 1);
          }} />
      </div>
    </Frame>
  );
}
