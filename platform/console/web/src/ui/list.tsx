import { useEffect, useRef, type ReactNode } from "react";
import { keysOff } from "./keys";

// Rows is a table whose rows are walked with j and k and opened with Enter: each has one link, its first.

export interface Column<T> {
  name: string;
  show: (row: T) => ReactNode;
  from?: "wide" | "medium"; // Hidden on narrower screens: the drawer has it too.
  end?: boolean; // Aligned at the end, as numbers and times are.
}

export function Rows<T>({ label, rows, columns, keyOf, current }: {
  label: string;
  rows: T[];
  columns: Column<T>[];
  keyOf: (row: T) => string;
  current?: string | undefined;
}) {
  const body = useRef<HTMLTableSectionElement>(null);
  useEffect(() => {
    const onKey = (e: KeyboardEvent) => {
      if (keysOff(e) || (e.key !== "j" && e.key !== "k")) return;
      const links = [...(body.current?.querySelectorAll<HTMLAnchorElement>("tr > :first-child a") ?? [])];
      const at = links.findIndex((l) => l.closest("tr")!.contains(document.activeElement) || l.closest("tr")!.dataset.current === "true");
      const next = links[at < 0 ? 0 : at + (e.key === "j" ? 1 : -1)];
      if (!next) return;
      e.preventDefault();
      next.focus();
      if (body.current?.querySelector('[data-current="true"]')) next.click();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  return (
    <div className="table-wrap">
      <table className="rows">
        <caption className="unseen">{label}</caption>
        <thead>
          <tr>
            {columns.map((c) => (
              <th key={c.name} scope="col" className={cls(c)}>
                {c.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {rows.map((row) => (
            <tr key={keyOf(row)} data-current={keyOf(row) === current}>
              {columns.map((c) => (
                <td key={c.name} className={cls(c)}>
                  {c.show(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const cls = (c: { from?: string; end?: boolean }) => [c.from ? `from-${c.from}` : "", c.end ? "end" : ""].join(" ").trim() || undefined;

// OpenLink is the link of a row that opens beside its list. A Link would be drawn anew with every change of the address.
export function OpenLink({ search, open, onOpen, stacked, children }: {
  search: Record<string, string | undefined>; // Of the list.
  open: string;
  onOpen: (open: string) => void;
  stacked?: boolean; // What it says is below its name, where a list has many columns.
  children: ReactNode;
}) {
  return (
    <a href={linkTo({ ...search, open })} className={stacked ? "row-link named-above" : "row-link"} onClick={(e) => {
      if (e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return; // The browser's.
      e.preventDefault();
      onOpen(open);
    }}>
      {children}
    </a>
  );
}

const linkTo = (search: Record<string, string | undefined>): string =>
  "?" + new URLSearchParams(Object.entries(search).filter((e): e is [string, string] => e[1] !== undefined && e[1] !== "")).toString();

// Pager goes on with the cursor of the server, which is in the URL.
export function Pager({ first, next, onFirst, onNext, count }: {
  first: boolean;
  next?: string | undefined;
  onFirst: () => void;
  onNext: (cursor: string) => void;
  count: number;
}) {
  return (
    <nav className="pager" aria-label="Pages">
      <span className="muted">{count} shown</span>
      {!first && (
        <button type="button" className="button" onClick={onFirst}>
          First page
        </button>
      )}
      {next && (
        <button type="button" className="button" onClick={() => onNext(next)}>
          Next page
        </button>
      )}
    </nav>
  );
}

// Drawer shows one row beside its list. It is a part of the URL; Escape closes it.
export function Drawer({ title, onClose, children }: { title: string; onClose: () => void; children: ReactNode }) {
  const h2 = useRef<HTMLHeadingElement>(null);
  const close = useRef(onClose);
  close.current = onClose;
  useEffect(() => {
    const before = document.activeElement;
    if (!before?.closest("tr, [role=dialog]")) h2.current?.focus({ preventScroll: true });
    const onKey = (e: KeyboardEvent) => {
      if (e.key === "Escape" && !e.defaultPrevented && !document.querySelector("[role=dialog], [role=alertdialog]")) close.current();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
  return (
    <aside className="drawer" aria-label={title}>
      <div className="drawer-head">
        <h2 ref={h2} tabIndex={-1}>
          {title}
        </h2>
        <button type="button" className="quiet" onClick={onClose} aria-label="Close">
          ✕
        </button>
      </div>
      <div className="drawer-body">{children}</div>
    </aside>
  );
}
