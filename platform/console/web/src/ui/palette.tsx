import { Dialog } from "@base-ui/react/dialog";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useDeferredValue, useEffect, useState } from "react";
import { agents, tools } from "../api/queries";
import { pages } from "./pages";

interface Hit {
  id: string;
  kind: string;
  name: string;
  detail?: string;
  go: () => void;
}

// Palette goes to any page, tool, agent or run.
export function Palette({ tenant, onClose }: { tenant: string; onClose: () => void }) {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const asked = useDeferredValue(text.trim());
  const foundTools = useQuery({ ...tools(tenant, { search: asked, limit: 8 }), enabled: asked !== "" });
  const foundAgents = useQuery({ ...agents(tenant, { search: asked, limit: 4 }), enabled: asked !== "" });
  const hits: Hit[] = [
    ...pages
      .filter((p) => p.name.toLowerCase().includes(asked.toLowerCase()))
      .map((p): Hit => ({ id: p.path, kind: "Page", name: p.name, go: () => void navigate({ to: p.to, params: { tenant } }) })),
    ...(asked ? (foundTools.data?.items ?? []) : []).map((t): Hit => ({
      id: t.id, kind: "Tool", name: t.slug, detail: t.name,
      go: () => void navigate({ to: "/t/$tenant/tools/$tool", params: { tenant, tool: t.slug } }),
    })),
    ...(asked ? (foundAgents.data?.items ?? []) : []).map((a): Hit => ({
      id: a.id, kind: "Agent", name: a.slug, detail: a.name,
      go: () => void navigate({ to: "/t/$tenant/agents", params: { tenant }, search: { open: a.slug } }),
    })),
    ...(/^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(asked)
      ? [{ id: asked, kind: "Run", name: asked, go: () => void navigate({ to: "/t/$tenant/runs/$run", params: { tenant, run: asked } }) }]
      : []),
  ];
  useEffect(() => setAt(0), [asked]);
  const chosen = Math.min(at, hits.length - 1);
  const go = (h: Hit | undefined) => {
    if (!h) return;
    onClose();
    h.go();
  };
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog palette" aria-label="Search">
          <input
            role="combobox"
            aria-label="Search pages, tools, agents and runs"
            aria-expanded={hits.length > 0}
            aria-controls="hits"
            aria-activedescendant={hits[chosen] ? `hit-${hits[chosen].id}` : undefined}
            placeholder="Search pages, tools, agents; or the id of a run"
            value={text}
            onChange={(e) => setText(e.target.value)}
            onKeyDown={(e) => {
              if (e.key === "ArrowDown") setAt(Math.min(chosen + 1, hits.length - 1));
              else if (e.key === "ArrowUp") setAt(Math.max(chosen - 1, 0));
              else if (e.key === "Enter") go(hits[chosen]);
              else return;
              e.preventDefault();
            }}
            spellCheck={false}
            autoFocus
          />
          {hits.length > 0 ? (
            <ul id="hits" role="listbox" aria-label="Found">
              {hits.map((h, i) => (
                <li key={h.kind + h.id} id={`hit-${h.id}`} role="option" aria-selected={i === chosen} onClick={() => go(h)} onMouseMove={() => setAt(i)}>
                  <span className="hit-kind">{h.kind}</span>
                  <span className="hit-name">{h.name}</span>
                  {h.detail && <span className="muted">{h.detail}</span>}
                </li>
              ))}
            </ul>
          ) : (
            <p className="muted none-found">Nothing is called “{asked}”.</p>
          )}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
