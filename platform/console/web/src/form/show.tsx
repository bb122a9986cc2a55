import { useContext } from "react";
import { Num, print, type Json } from "../api/json";
import { Time } from "../ui/parts";
import { FileShown } from "./files";
import { linkOf } from "./inputs";
import { Generic } from "./output";
import { showOf } from "./registry";
import { equal, isObject, nameOf, textOf, type Field } from "./spec";
import { OutputContext } from "./views";

// Views of values, by the type and display of their field. All that was written is shown as text.

export interface DisplayProps {
  field: Field;
  value: Json | undefined;
}

const none = <span className="none">–</span>;
const plain = (v: Json | undefined) => v === undefined || v === null || typeof v !== "object" || v instanceof Num;

export function Line({ value, field }: DisplayProps) {
  if (value === undefined || value === null) return none;
  return plain(value) ? <span className="o-text">{textOf(value)}</span> : <Data value={value} field={field} />;
}

export function Paragraph({ value, field }: DisplayProps) {
  if (value === undefined || value === null) return none;
  return plain(value) ? <div className="text">{textOf(value)}</div> : <Data value={value} field={field} />;
}

export function Code({ value, field }: DisplayProps) {
  if (value === undefined || value === null) return none;
  return plain(value) ? <pre className="o-code" tabIndex={0} aria-label={nameOf(field)}>{textOf(value)}</pre> : <Data value={value} field={field} />;
}

export function Amount({ value, field }: DisplayProps) {
  if (value === undefined || value === null) return none;
  if (!plain(value)) return <Data value={value} field={field} />;
  const unit = field.unit ?? (field.display === "percent" ? "%" : "");
  return <span className="o-number">{textOf(value)}{unit && ` ${unit}`}</span>;
}

export function Meter({ value, field }: DisplayProps) {
  const [n, min, max] = [Number(textOf(value)), Number(textOf(field.min ?? 0)), Number(textOf(field.max ?? 100))];
  if (value === undefined || value === null) return none;
  return (
    <span className="f-row">
      {Number.isFinite(n) && max > min && <meter min={min} max={max} value={n} aria-label={nameOf(field)} />}
      <Amount value={value} field={field} />
    </span>
  );
}

export function Stars({ value, field }: DisplayProps) {
  const n = Number(textOf(value));
  const most = Number(textOf(field.max ?? 5));
  if (value === undefined || value === null || !Number.isInteger(n) || n < 0 || most > 20) return <Amount value={value} field={field} />;
  return (
    <span>
      <span className="o-stars" aria-hidden="true">{"★".repeat(n)}{"☆".repeat(Math.max(0, most - n))}</span>{" "}
      {n} of {most}
    </span>
  );
}

export function YesNo({ value, field }: DisplayProps) {
  if (typeof value !== "boolean") return <Line value={value} field={field} />;
  return <span>{value ? "Yes" : "No"}</span>;
}

export function Moment({ value, field }: DisplayProps) {
  if (typeof value !== "string" || Number.isNaN(Date.parse(value))) return <Line value={value} field={field} />;
  return (
    <span>
      <span className="o-text">{value}</span> <span className="muted">(<Time at={value} />)</span>
    </span>
  );
}

export function Chosen({ value, field }: DisplayProps) {
  if (value === undefined || value === null) return none;
  const name = (v: Json) => field.options?.find((o) => equal(o.value, v))?.label ?? (plain(v) ? textOf(v) : print(v));
  if (!Array.isArray(value)) return <span className="badge">{name(value)}</span>;
  return (
    <span className="badges">
      {value.map((v, i) => (
        <span key={i} className="badge">{name(v)}</span>
      ))}
      {value.length === 0 && none}
    </span>
  );
}

export function Address({ value, field }: DisplayProps) {
  if (Array.isArray(value)) {
    return (
      <ul>
        {value.map((v, i) => (
          <li key={i}><Address value={v} field={field} /></li>
        ))}
      </ul>
    );
  }
  const type = field.type === "media" ? "url" : field.type;
  const href = linkOf(type, value);
  return href ? (
    <a className="o-text" href={href} target="_blank" rel="noopener noreferrer nofollow ugc">{textOf(value)}</a>
  ) : (
    <Line value={value} field={field} />
  );
}

export function Upload({ value, field }: DisplayProps) {
  const { tenant } = useContext(OutputContext);
  const list = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
  if (list.length === 0) return none;
  return (
    <ul className={field.display === "image" ? "f-images" : "f-files"}>
      {list.map((v, i) => (
        <li key={i}>{isObject(v) && typeof v.file_id === "string" ? <FileShown tenant={tenant} id={v.file_id} image={field.display === "image"} /> : <Data value={v} field={field} />}</li>
      ))}
    </ul>
  );
}

export function Related({ value }: DisplayProps) {
  const list = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
  return list.length === 0 ? none : <span className="badges">{list.map((v, i) => <code key={i}>{plain(v) ? textOf(v) : print(v)}</code>)}</span>;
}

export function Data({ value, field }: DisplayProps) {
  return value === undefined ? none : <Generic value={value} label={nameOf(field)} />;
}

export function Group({ value, field }: DisplayProps) {
  return isObject(value) ? <FieldDefinitionDisplay fields={field.fields ?? []} value={value} /> : <Data value={value} field={field} />;
}

export function List({ value, field }: DisplayProps) {
  const item = field.items;
  if (!Array.isArray(value) || !item) return <Data value={value} field={field} />;
  if (value.length === 0) return none;
  const columns = item.type === "object" && (item.display ?? "group") === "group" ? (item.fields ?? []).filter((f) => !f.hidden) : [];
  if (columns.length === 0 || !value.every(isObject)) {
    const Of = showOf(item);
    return (
      <ol className="o-list">
        {value.map((v, i) => (
          <li key={i}><Of field={item} value={v} /></li>
        ))}
      </ol>
    );
  }
  return (
    <div className="o-table-wrap" role="region" aria-label={nameOf(field)} tabIndex={0}>
      <table className="o-table">
        <caption className="unseen">{nameOf(field)}</caption>
        <thead>
          <tr>{columns.map((c) => <th key={c.key} scope="col">{nameOf(c)}</th>)}</tr>
        </thead>
        <tbody>
          {value.slice(0, 500).map((row, i) => (
            <tr key={i}>
              {columns.map((c) => {
                const Of = showOf(c);
                return <td key={c.key}><Of field={c} value={isObject(row) ? row[c.key] : undefined} /></td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

// FieldDefinitionDisplay shows a value by its fields, and what they do not know below.
export function FieldDefinitionDisplay({ fields, value }: { fields: Field[]; value: Json }) {
  if (!isObject(value)) return <Generic value={value} label="Value" />;
  const seen = fields.filter((f) => !f.hidden && value[f.key] !== undefined);
  const known = new Set(fields.map((f) => f.key));
  const rest = Object.keys(value).filter((n) => !known.has(n));
  return (
    <dl className="o-facts">
      {seen.map((f) => {
        const Of = showOf(f);
        return (
          <div key={f.key}>
            <dt title={f.description}>{nameOf(f)}</dt>
            <dd><Of field={f} value={value[f.key]} /></dd>
          </div>
        );
      })}
      {rest.map((n) => (
        <div key={n}>
          <dt>{n}</dt>
          <dd><Generic value={value[n]!} label={n} /></dd>
        </div>
      ))}
    </dl>
  );
}
