import type { Loss } from "../api/graphs";
import { Badge } from "../ui/parts";

// Losses is what an import or export dropped, changed or needs.
export function Losses({ of, none }: { of: readonly Loss[]; none: string }) {
  if (of.length === 0) return <p className="notice good">{none}</p>;
  return (
    <ul className="losses" aria-label="What is not the same">
      {of.map((l, i) => (
        <li key={i}><Badge tone={l.what === "dropped" ? "bad" : "warn"}>{l.what}</Badge> {l.path && <code>{l.path}</code>} {l.reason}</li>
      ))}
    </ul>
  );
}
