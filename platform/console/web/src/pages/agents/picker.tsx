import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useId } from "react";
import { pickable } from "../../api/graphs";
import { json, tool, type Tool } from "../../api/queries";
import { Buckets, Choice, Search } from "../../ui/filters";
import { JsonView } from "../../ui/json";
import { Badge, Facts, Status, Text } from "../../ui/parts";
import { Empty, Failed, Loading } from "../../ui/states";
import { Type } from "../../ui/type";
import { Egress, ToolStatus } from "../tools";

// The field of the type tool_list: references of tools, such as searchOrders@^1.2, chosen out of the registry.

export interface PickerFilters {
  search?: string | undefined;
  bucket?: string | undefined;
  type?: string | undefined;
  shown?: string | undefined; // The tool whose details are open.
}

const buckets = [["", "All"], ["built_in", "Built-in"], ["mcp", "MCP"], ["artifact", "Artifacts"], ["custom", "Custom"]] as const;
const types = [
  "internal", "http", "function", "rag_retrieval", "mcp", "custom", "agent_call", "task", "composition", "graph", "artifact", "prompt",
  "client", "input", "provider",
] as const;

export const slugOf = (ref: string): string => ref.split("@")[0]!;
const rangeOf = (ref: string): string => (ref.includes("@") ? ref.slice(ref.indexOf("@") + 1) : "");
const written = (slug: string, range: string): string => (range.trim() ? `${slug}@${range.trim()}` : slug);

export function ToolPicker({ tenant, value, onChange, filters, onFilters, faults, readOnly, none = "Without tools, the agent answers from its instructions alone." }: {
  tenant: string;
  value: readonly string[];
  onChange: (refs: string[]) => void;
  filters: PickerFilters;
  onFilters: (change: PickerFilters) => void;
  faults?: ReadonlyMap<number, string>; // By place in value.
  readOnly?: boolean;
  none?: string; // What it means to have none.
}) {
  const chosen = new Set(value.map(slugOf));
  return (
    <div className="picker">
      {!readOnly && (
        <div className="picker-list">
          <div className="filters">
            <Search value={filters.search ?? ""} onChange={(search) => onFilters({ ...filters, search })} label="Search tools" />
            <Choice label="Subtype" value={filters.type ?? ""} options={types} onChange={(type) => onFilters({ ...filters, type })} />
            <Buckets label="Bucket" value={filters.bucket ?? ""} options={buckets} onChange={(bucket) => onFilters({ ...filters, bucket })} />
          </div>
          <Offered tenant={tenant} filters={filters} chosen={chosen} onFilters={onFilters}
            onToggle={(slug) => onChange(chosen.has(slug) ? value.filter((r) => slugOf(r) !== slug) : [...value, slug])} />
        </div>
      )}
      <div className="picker-side">
        <section aria-label="Chosen tools">
          <div className="picker-head">
            <h3>{value.length === 1 ? "1 tool chosen" : `${value.length} tools chosen`}</h3>
            {!readOnly && value.length > 0 && <button type="button" className="quiet" onClick={() => onChange([])}>Clear all</button>}
          </div>
          {value.length === 0 ? (
            <p className="muted">{none}</p>
          ) : (
            <ul className="picked">
              {value.map((ref, i) => (
                <Picked key={slugOf(ref)} tenant={tenant} of={ref} fault={faults?.get(i)} readOnly={readOnly}
                  onRange={(range) => onChange(value.map((r, j) => (j === i ? written(slugOf(ref), range) : r)))}
                  onShow={() => onFilters({ ...filters, shown: filters.shown === slugOf(ref) ? undefined : slugOf(ref) })}
                  onRemove={() => onChange(value.filter((_, j) => j !== i))} />
              ))}
            </ul>
          )}
        </section>
        {filters.shown && <Detail tenant={tenant} slug={filters.shown} onClose={() => onFilters({ ...filters, shown: undefined })} />}
      </div>
    </div>
  );
}

function Offered({ tenant, filters, chosen, onToggle, onFilters }: {
  tenant: string;
  filters: PickerFilters;
  chosen: ReadonlySet<string>;
  onToggle: (slug: string) => void;
  onFilters: (change: PickerFilters) => void;
}) {
  const found = useInfiniteQuery(pickable(tenant, { search: filters.search, tool_type: filters.bucket, implementation_type: filters.type }));
  if (found.isPending) return <Loading rows={6} />;
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} what="The list of tools" />;
  const all = found.data.pages.flatMap((p) => p.items);
  if (all.length === 0) {
    return (
      <Empty title={filters.search || filters.bucket || filters.type ? "No tool matches these filters" : "There are no tools yet"}>
        {(filters.search || filters.bucket || filters.type) && (
          <button type="button" className="button" onClick={() => onFilters({ shown: filters.shown })}>Clear the filters</button>
        )}
      </Empty>
    );
  }
  return (
    <>
      {buckets.slice(1).map(([bucket, name]) => {
        const inIt = all.filter((t) => t.tool_type === bucket);
        return inIt.length > 0 && (
          <fieldset key={bucket} className="picker-group">
            <legend>{name} <span className="muted">{inIt.length}{found.hasNextPage ? "+" : ""}</span></legend>
            {inIt.map((t) => (
              <Offer key={t.slug} of={t} chosen={chosen.has(t.slug)} onToggle={() => onToggle(t.slug)}
                onShow={() => onFilters({ ...filters, shown: t.slug })} />
            ))}
          </fieldset>
        );
      })}
      {found.hasNextPage && (
        <button type="button" className="button" disabled={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>More tools</button>
      )}
    </>
  );
}

function Offer({ of: t, chosen, onToggle, onShow }: { of: Tool; chosen: boolean; onToggle: () => void; onShow: () => void }) {
  const id = useId();
  return (
    <div className={chosen ? "offer chosen" : "offer"}>
      <label>
        <input type="checkbox" checked={chosen} onChange={onToggle} aria-describedby={id} />
        <span className="slug">{t.slug}</span>
        <span id={id} className="muted line">{t.description || t.name}</span>
      </label>
      <span className="offer-marks">
        {t.status !== "published" && <Status value={t.status} />}
        {t.required_permission && <Badge>needs {t.required_permission}</Badge>}
        {t.egress_class === "write" && <Badge tone="warn">writes</Badge>}
        <Type of={t.implementation_type} />
        <button type="button" className="quiet" onClick={onShow} aria-label={`Details of ${t.slug}`}>Details</button>
      </span>
    </div>
  );
}

function Picked({ tenant, of: ref, fault, readOnly, onRange, onRemove, onShow }: {
  tenant: string;
  of: string;
  fault?: string | undefined;
  readOnly?: boolean | undefined;
  onRange: (range: string) => void;
  onRemove: () => void;
  onShow: () => void;
}) {
  const slug = slugOf(ref);
  const found = useQuery(tool(tenant, slug));
  const id = useId();
  return (
    <li>
      <span className="picked-name">
        <button type="button" className="link slug" onClick={onShow}>{slug}</button>
        {found.error ? <Badge tone="bad">not here, or not yours to use</Badge> : found.data && <ToolStatus of={found.data} />}
      </span>
      {readOnly ? (
        <span className="version muted">{rangeOf(ref) || "newest"}</span>
      ) : (
        <>
          <input aria-label={`Versions of ${slug}`} placeholder={found.data?.published_at ? `any, such as ^${found.data.version}` : "any"} value={rangeOf(ref)}
            onChange={(e) => onRange(e.target.value)} spellCheck={false} aria-invalid={!!fault} {...(fault && { "aria-describedby": id })} />
          <button type="button" className="quiet" onClick={onRemove} aria-label={`Remove ${slug}`}>✕</button>
        </>
      )}
      {fault && <p id={id} className="error">{fault}</p>}
    </li>
  );
}

function Detail({ tenant, slug, onClose }: { tenant: string; slug: string; onClose: () => void }) {
  const found = useQuery(tool(tenant, slug));
  return (
    <section className="picker-detail" aria-label={`Details of ${slug}`}>
      <div className="picker-head">
        <h3 className="slug">{slug}</h3>
        <button type="button" className="quiet" onClick={onClose} aria-label="Close the details">✕</button>
      </div>
      {found.isPending ? (
        <Loading rows={3} />
      ) : found.error ? (
        <Failed error={found.error} what="The tool" />
      ) : (
        <>
          <p className="badges"><ToolStatus of={found.data} /> <Type of={found.data.implementation_type} /> <Egress of={found.data} /> <Status value={found.data.risk} /></p>
          <Text>{found.data.description}</Text>
          <Facts of={[
            ["Version", found.data.version],
            ["Category", found.data.category],
            ["Permission", found.data.required_permission],
            ["Approval", found.data.requires_approval && "each call"],
          ]} />
          <JsonView value={json(found.data.input_schema)} label="Input schema" />
          <p><Link to="/t/$tenant/tools/$tool" params={{ tenant, tool: slug }} className="button">The tool</Link></p>
        </>
      )}
    </section>
  );
}
