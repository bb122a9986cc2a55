import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import type { Json } from "../api/json";
import { ApiError } from "../api/client";
import { meta } from "../api/runs";
import { contentAddress, file, fileContent, upload } from "../api/forms";
import { Frame, usePart, type InputProps } from "./frame";
import { isObject, nameOf, sizeOf, textOf } from "./spec";
import { useForm } from "./store";
import { linkOf } from "./inputs";

// Files are uploaded when they are chosen; the value refers to them by id.

export function UploadInput(p: InputProps) {
  const { mode } = useForm();
  return <ImageDropzoneUploader {...p} compact={mode === "embed" || !!p.bare} hideManualUrl={mode === "embed"} />;
}

const idOf = (v: Json | undefined): string => (isObject(v) ? textOf(v.file_id) : "");

// ImageDropzoneUploader takes files by dropping, choosing, or pasting. compact is small, and takes no address;
// hideManualUrl alone leaves the address out. The address of an uploaded file is its id.
export function ImageDropzoneUploader(p: InputProps & { compact?: boolean; hideManualUrl?: boolean }) {
  const { tenant } = useForm();
  const part = usePart(p);
  const { field: f, compact = false, hideManualUrl = false } = p;
  const server = useQuery({ ...meta(), retry: false });
  const image = f.display === "image";
  const accept = f.accept?.length ? f.accept : image ? pictured : undefined;
  const sizes = [f.max_bytes, server.data?.max_file_bytes].map(Number).filter((n) => n > 0);
  const most = sizes.length > 0 ? Math.min(...sizes) : undefined;
  const [over, setOver] = useState(false);
  const [busy, setBusy] = useState<string[]>([]);
  const [failed, setFailed] = useState<string[]>([]);
  const [id, setId] = useState("");
  const now = useRef(part.value);
  now.current = part.value;
  const stop = useRef(new AbortController());
  useEffect(() => {
    const s = (stop.current = new AbortController());
    return () => s.abort();
  }, []);
  const list = f.multiple ? (Array.isArray(part.value) ? part.value : []) : isObject(part.value) ? [part.value] : [];
  const full = f.multiple ? f.max_items !== undefined && list.length >= f.max_items : false;
  const add = (reference: Json) => {
    const before = Array.isArray(now.current) ? now.current : [];
    now.current = f.multiple ? [...before, reference] : reference;
    part.set(now.current);
  };
  const send = async (files: Iterable<File>) => {
    const chosen = [...files].slice(0, f.multiple ? (f.max_items === undefined ? undefined : Math.max(0, f.max_items - list.length)) : 1);
    setFailed([]);
    for (const one of chosen) {
      const wrong = refusal(one, accept, most, image);
      if (wrong) {
        setFailed((x) => [...x, wrong]);
        continue;
      }
      setBusy((b) => [...b, one.name]);
      try {
        const stored = await upload(tenant, one, stop.current.signal);
        add({ file_id: stored.id });
      } catch (e) {
        if (!stop.current.signal.aborted) setFailed((x) => [...x, `${one.name}: ${e instanceof ApiError ? e.detail : "the upload failed"}`]);
      }
      setBusy((b) => b.filter((n, i) => i !== b.indexOf(one.name) || n !== one.name));
    }
  };
  const remove = (i: number) => {
    const next = list.filter((_, j) => j !== i);
    part.set(f.multiple && (next.length || p.required) ? next : undefined);
  };
  const bounds = [accept?.join(", "), most ? `up to ${sizeOf(most)}` : ""].filter(Boolean).join(", ");
  return (
    <Frame of={p} part={part}>
      {list.length > 0 && (
        <ul className={image ? "f-images" : "f-files"}>
          {list.map((v, i) => (
            <li key={idOf(v) || i}>
              <FileShown tenant={tenant} id={idOf(v)} image={image} />
              <button type="button" className="quiet f-remove" aria-label={`Remove file ${i + 1}`} onClick={() => remove(i)}>✕</button>
            </li>
          ))}
        </ul>
      )}
      {!full && (
        <label className={`f-drop${compact ? " compact" : ""}`} data-over={over}
          onDragOver={(e) => {
            e.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={(e) => {
            e.preventDefault();
            setOver(false);
            void send(e.dataTransfer.files);
          }}>
          <input id={part.id} type="file" multiple={!!f.multiple} accept={accept?.join(",")}
            disabled={!tenant} {...part.described}
            onPaste={(e) => e.clipboardData.files.length && void send(e.clipboardData.files)}
            onChange={(e) => {
              const files = [...(e.target.files ?? [])];
              e.target.value = "";
              void send(files);
            }} />
          {compact ? bounds && <span className="unseen">{bounds}</span> : <span className="muted">{image ? "Drop images here" : "Drop files here"}{bounds && ` – ${bounds}`}</span>}
        </label>
      )}
      {busy.map((n) => (
        <p key={n} className="muted" role="status">Uploading {n}</p>
      ))}
      {failed.map((t) => (
        <p key={t} className="f-problem" role="alert">{t}</p>
      ))}
      {!compact && !hideManualUrl && !full && (
        <div className="f-row">
          <input className="f-manual" aria-label={`Id of an uploaded file for ${nameOf(f)}`} placeholder="or the id of an uploaded file" value={id} spellCheck={false}
            onChange={(e) => setId(e.target.value)} onKeyDown={(e) => {
              if (e.key !== "Enter") return;
              e.preventDefault();
              if (id.trim()) add({ file_id: id.trim() });
              setId("");
            }} />
          <button type="button" className="button" disabled={!id.trim()} onClick={() => {
            add({ file_id: id.trim() });
            setId("");
          }}>Use</button>
        </div>
      )}
    </Frame>
  );
}

// pictured are the kinds of images that are shown, and taken where nothing else is said.
const pictured = ["image/png", "image/jpeg", "image/gif", "image/webp"];

function refusal(f: File, accept: string[] | undefined, most: number | undefined, image: boolean): string | undefined {
  if (most && f.size > most) return `${f.name} has ${sizeOf(f.size)}: at most ${sizeOf(most)} are taken`;
  if (f.size === 0) return `${f.name} is empty`;
  if (image && !f.type.startsWith("image/")) return `${f.name} is no image: ${(accept ?? pictured).join(", ")} is taken`;
  if (!accept?.length || f.type === "") return undefined;
  return accept.some((a) => a === f.type || (a.endsWith("/*") && f.type.startsWith(a.slice(0, -1)))) ? undefined : `${f.name} is ${f.type}: ${accept.join(", ")} is taken`;
}

const images = /^image\/(png|jpeg|gif|webp)$/;

// FileShown is an uploaded file: its name and size, and its picture where it has one.
export function FileShown({ tenant, id, image }: { tenant: string; id: string; image?: boolean }) {
  const found = useQuery({ ...file(tenant, id), enabled: !!tenant && id !== "" });
  const f = found.data;
  const pictured = !!f && images.test(f.media_type) && f.size <= 10 << 20;
  return (
    <span className="f-stored">
      {pictured && image && <Picture tenant={tenant} id={id} name={f.name} />}
      {f ? (
        <a href={contentAddress(id)} download={f.name} onClick={(e) => {
          e.preventDefault();
          void save(tenant, id, f.name);
        }}>{f.name}</a>
      ) : (
        <code>{id}</code>
      )}
      {f && <span className="muted">{f.media_type}, {sizeOf(f.size)}</span>}
      {found.error && <span className="f-problem">not found</span>}
    </span>
  );
}

// A download has to name its tenant, which an address cannot.
async function save(tenant: string, id: string, name: string): Promise<void> {
  const { client } = await import("../query");
  const content = await client.fetchQuery(fileContent(tenant, id));
  const a = document.createElement("a");
  a.href = URL.createObjectURL(new Blob([content], { type: "application/octet-stream" }));
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10_000);
}

function Picture({ tenant, id, name }: { tenant: string; id: string; name: string }) {
  const found = useQuery(fileContent(tenant, id));
  const [at, setAt] = useState("");
  useEffect(() => {
    if (!found.data) return;
    const made = URL.createObjectURL(found.data);
    setAt(made);
    return () => URL.revokeObjectURL(made);
  }, [found.data]);
  return at ? <img src={at} alt={name} /> : null;
}

// MediaInput is the address of a file elsewhere. It is not loaded: a page that shows what others wrote asks nothing of
// other hosts.
export function MediaInput(p: InputProps) {
  const part = usePart(p);
  const list = p.field.multiple ? (Array.isArray(part.value) ? part.value.map(textOf) : []) : [textOf(part.value)];
  const rows = p.field.multiple ? [...list, ""] : list;
  const set = (i: number, text: string) => {
    if (!p.field.multiple) return part.set(text || undefined);
    const next = rows.map((t, j) => (j === i ? text : t)).filter(Boolean);
    part.set(next.length || p.required ? next : undefined);
  };
  return (
    <Frame of={p} part={part}>
      {rows.map((text, i) => {
        const href = linkOf("url", text);
        return (
          <span className="f-row" key={i}>
            <input id={i === 0 ? part.id : undefined} type="url" value={text} placeholder={p.field.placeholder ?? "https://"} autoComplete="off"
              {...part.described} {...(i > 0 && { "aria-label": `${nameOf(p.field)} ${i + 1}` })} onChange={(e) => set(i, e.target.value)} />
            {href && <a className="button" href={href} target="_blank" rel="noopener noreferrer nofollow ugc">Open</a>}
          </span>
        );
      })}
    </Frame>
  );
}
