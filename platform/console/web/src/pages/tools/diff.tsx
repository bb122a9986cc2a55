import type { Diff } from "../../api/tools";
import { Badge } from "../../ui/parts";

// Changes are the differences of two versions, and what they mean for callers.

const words: Record<string, string> = {
  none: "Callers notice nothing: no version is needed.",
  patch: "Callers notice nothing: a patch is enough.",
  minor: "It only adds: callers go on as they are, and a minor version is enough.",
  major: "It breaks callers: that takes a major version.",
};

const tones: Record<string, string> = { major: "bad", minor: "warn", patch: "", none: "" };

export function Changes({ of: d }: { of: Diff }) {
  return (
    <div className="tool-changes">
      <p className={d.enough ? "notice good" : "notice bad"}>
        {d.changes.length === 0 ? "They do not differ." : words[d.bump]}
        {d.enough ? d.changes.length > 0 && <> Its number, {d.number}, is high enough.</> : <> {d.refusal}</>}
      </p>
      {d.changes.length > 0 && (
        <ul className="change-list" aria-label="Changes">
          {d.changes.map((c) => (
            <li key={c.path + c.reason}>
              <Badge tone={tones[c.bump] ?? ""}>{c.bump === "none" ? "no version" : c.bump}</Badge>
              <code>{c.path}</code>
              <span>{c.reason}</span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
