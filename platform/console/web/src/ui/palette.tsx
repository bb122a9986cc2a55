import { Dialog } from "@base-ui/react/dialog";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { search, type Found } from "../api/overview";
import { may, me } from "../api/queries";
import { actions } from "./actions";
import { pages } from "./pages";
import { recent } from "./recent";
import { bye } from "./session";
import { Status } from "./parts";

interface Hit {
  id: string;
  group: string;
  kind: string;
  name: string;
  detail?: string | undefined;
  state?: string | undefined;
  stays?: boolean | undefined; // It goes nowhere.
  go: () => void;
}

const kinds: Record<string, string> = {
  tool: "Tool", agent: "Agent", space: "Space", key: "Key",
  schedule: "Schedule", mcp_server: "MCP server", profile: "Profile", run: "Run", call: "Call", approval: "Approval",
  credential: "Credential", pipeline: "Pipeline", role: "Role", budget: "Budget", webhook: "Webhook", tool_session: "Session",
  view: "Published", pending_call: "Open call", input_request: "Request",
};

// addressOf returns where what was found is, below the tenant, if it has a page.
function addressOf(f: Found): string | undefined {
  const at = encodeURIComponent;
  switch (f.kind) {
    case "tool":
      return `tools/${at(f.name)}`;
    case "agent":
      return `agents?open=${at(f.name)}`;
    case "run":
      return `runs/${f.id}`;
    case "call":
      return f.run_id ? `runs/${f.run_id}?tab=calls&call=${f.id}` : "runs";
    case "approval":
      return `inbox?open=${f.id}`;
    case "space":
      return `spaces/${at(f.name)}`;
    case "mcp_server":
      return `mcp-servers/${at(f.name)}`;
    case "pipeline":
      return `pipelines/${at(f.name)}`;
    case "credential":
      return `credentials?open=${at(f.name)}`;
    case "role":
      return `access?tab=roles&open=${at(f.name)}`;
    case "budget":
      return `limits?open=${at(f.name)}`;
    case "webhook":
      return `webhooks?open=${f.id}`;
    case "tool_session":
      return `sessions/${f.id}`;
    case "view":
      return `published?open=${f.id}`;
    case "pending_call":
      return `inbox/calls?open=${f.id}`;
    case "input_request":
      return `inbox/inputs?open=${f.id}`;
    case "key":
      return `access?open=${f.id}`;
    case "schedule":
    case "profile":
      return `${f.kind}s?open=${at(f.name)}`;
    default:
      return undefined;
  }
}

// matches reports whether a text has every word.
const matches = (text: string, words: string[]) => words.every((w) => text.toLowerCase().includes(w));

// useSettled returns a value when it has stayed for a moment.
function useSettled(value: string, ms: number): string {
  const [settled, set] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => set(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return settled;
}

// Palette goes to any page and any thing, and does what can be done from anywhere.
export function Palette({ tenant, onClose }: { tenant: string; onClose: () => void }) {
  const navigate = useNavigate();
  const who = useQuery(me(tenant)).data;
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const leaves = useRef(false);
  const asked = text.trim();
  const words = asked.toLowerCase().split(/\s+/).filter(Boolean);
  const found = useQuery({ ...search(tenant, useSettled(asked, 120)), placeholderData: keepPreviousData });
  const open = (path: string) => () => {
    const [where = "", query = ""] = path.split("?");
    void navigate({ to: `/t/${encodeURIComponent(tenant)}/${where}` as string, search: Object.fromEntries(new URLSearchParams(query)) } as never);
  };
  // A page whose route is not there is none: parts of the console may be absent.
  const allowed = (p: (typeof pages)[number]) => who?.features.find((f) => f.name === p.feature)?.available !== false;
  const hits: Hit[] = [
    ...(asked ? [] : recent(tenant).map((p): Hit => ({ id: "recent-" + p.path, group: "Recent", kind: "Recent", name: p.title, go: open(p.path) }))),
    ...pages.filter((p) => allowed(p) && matches(p.name, words)).map((p): Hit => ({
      id: "page-" + p.path, group: "Pages", kind: "Page", name: p.name, detail: `g ${p.key}`,
      go: () => void navigate({ to: p.to, params: { tenant } }),
    })),
    ...actions
      .filter((a) => !a.hidden?.() && (!a.needs || may(who, a.needs)) && matches(`${a.name} ${a.words ?? ""}`, words))
      .map((a): Hit => ({ id: "do-" + a.name, group: "Actions", kind: "Do", name: a.name, stays: !!a.run, go: a.run ?? open(a.at ?? "") })),
    ...(matches("Sign out leave", words)
      ? [{ id: "do-out", group: "Actions", kind: "Do", name: "Sign out", go: () => void bye().then(() => location.assign(location.href)) }]
      : []),
    ...(asked ? (found.data?.items ?? []) : []).flatMap((f): Hit[] => {
      const address = addressOf(f);
      if (address === undefined) return [];
      return [{
        id: `${f.kind}-${f.id}`, group: "Found", kind: kinds[f.kind] ?? f.kind, name: f.name,
        detail: f.title !== f.name ? f.title : undefined, state: f.state, go: open(address),
      }];
    }),
    ...called(asked, found.data?.items ?? [], may(who, "runs.write")).map((slug): Hit => ({
      id: "call-" + slug, group: "Actions", kind: "Do", name: `Call ${slug}`, go: open(`tools/${encodeURIComponent(slug)}?tab=test`),
    })),
  ];
  // What was found comes first where something is asked for that no page or action is called.
  const order = asked ? ["Pages", "Found", "Actions"] : ["Recent", "Pages", "Actions"];
  const groups = order.map((name) => ({ name, hits: hits.filter((h) => h.group === name) })).filter((g) => g.hits.length > 0);
  const shown = groups.flatMap((g) => g.hits);
  useEffect(() => setAt(0), [asked]);
  const chosen = Math.min(at, shown.length - 1);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const go = (h: Hit | undefined) => {
    if (!h) return;
    leaves.current = !h.stays;
    onClose();
    h.go();
  };
  const searching = asked !== "" && (found.isFetching || !found.data);
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog palette" aria-label="Search" finalFocus={() => !leaves.current /* The page that opens takes the focus. */}>
          <input
            role="combobox"
            aria-label="Search everything, or do something"
            aria-expanded={shown.length > 0}
            aria-controls="hits"
            aria-activedescendant={shown[chosen] ? `hit-${shown[chosen].id}` : undefined}
            placeholder="Search everything by name or id; or do something"
            value={text}
            onChange={(e) => setText(e.target.value)}
            onKeyDown={(e) => {
              if (e.key === "ArrowDown") setAt((chosen + 1) % shown.length);
              else if (e.key === "ArrowUp") setAt((chosen - 1 + shown.length) % shown.length);
              else if (e.key === "Home" && !text) setAt(0);
              else if (e.key === "Enter") go(shown[chosen]);
              else return;
              e.preventDefault();
            }}
            spellCheck={false}
            autoFocus
          />
          {shown.length > 0 ? (
            <ul id="hits" ref={list} role="listbox" aria-label="Found">
              {groups.map((g) => (
                <li key={g.name} role="presentation" className="hit-group">
                  <ul role="group" aria-label={g.name}>
                    <li role="presentation" className="hit-head">{g.name}</li>
                    {g.hits.map((h) => {
                      const i = shown.indexOf(h);
                      return (
                        <li key={h.id} id={`hit-${h.id}`} role="option" aria-selected={i === chosen} onClick={() => go(h)} onMouseMove={() => setAt(i)}>
                          <span className="hit-kind">{h.kind}</span>
                          <span className="hit-name">{h.name}</span>
                          <span className="muted">{h.detail}</span>
                          {h.state && h.state !== "published" && h.state !== "active" && <Status value={h.state} />}
                        </li>
                      );
                    })}
                  </ul>
                </li>
              ))}
            </ul>
          ) : (
            <p className="muted none-found" role="status">{searching ? "Searching…" : `Nothing is called “${asked}”.`}</p>
          )}
          {found.error && <p className="error none-found" role="alert">The search failed: {found.error.message}</p>}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

// called returns the tools that are asked to be called: "call refund".
function called(asked: string, found: Found[], permitted: boolean): string[] {
  if (!permitted || !asked) return [];
  return found.filter((f) => f.kind === "tool" && f.state === "published").map((f) => f.name).slice(0, 3);
}
