// Dates of a list, in UTC: the last one is a part of it.

export interface Dates {
  since?: string | undefined;
  until?: string | undefined;
}

const day = /^\d{4}-\d{2}-\d{2}$/;

export function range({ since, until }: Dates): Dates {
  const out: Dates = {};
  if (since && day.test(since)) out.since = `${since}T00:00:00Z`;
  const after = until && day.test(until) ? Date.parse(until) + 86_400_000 : NaN;
  if (!Number.isNaN(after)) out.until = new Date(after).toISOString();
  return out;
}

export function Range({ of, onChange }: { of: Dates; onChange: (d: Dates) => void }) {
  return (
    <>
      <label className={of.since ? "choice set" : "choice"}>
        <span>From</span>
        <input type="date" title="In UTC" value={of.since ?? ""} max={of.until} onChange={(e) => onChange({ since: e.target.value || undefined })} />
      </label>
      <label className={of.until ? "choice set" : "choice"}>
        <span>To</span>
        <input type="date" title="In UTC" value={of.until ?? ""} min={of.since} onChange={(e) => onChange({ until: e.target.value || undefined })} />
      </label>
    </>
  );
}
