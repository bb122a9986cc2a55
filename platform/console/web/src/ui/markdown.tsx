import { useQuery } from "@tanstack/react-query";
import { memo, type ReactNode } from "react";
import { call } from "../api/client";

// What models, tools and people wrote, as nodes that the server parsed: there is no HTML on the way. A node
// of a kind that is not known shows its text.

export interface Node {
  kind: string;
  text?: string;
  level?: number;
  ordered?: boolean;
  start?: number;
  language?: string;
  url?: string;
  host?: string;
  align?: string;
  header?: boolean;
  nodes?: Node[];
}

// Texts that are asked for within a moment go in one request.
const most = 100;
const waiting = new Map<string, { texts: Map<string, ((d: Node[]) => void)[]>; failed: ((e: unknown) => void)[] }>();

function parsed(tenant: string, text: string): Promise<Node[]> {
  return new Promise((done, failed) => {
    let batch = waiting.get(tenant);
    if (!batch) {
      waiting.set(tenant, (batch = { texts: new Map(), failed: [] }));
      setTimeout(() => ask(tenant), 5);
    }
    batch.texts.set(text, [...(batch.texts.get(text) ?? []), done]);
    batch.failed.push(failed);
    if (batch.texts.size >= most) ask(tenant);
  });
}

async function ask(tenant: string): Promise<void> {
  const batch = waiting.get(tenant);
  if (!batch) return;
  waiting.delete(tenant);
  const texts = [...batch.texts.keys()];
  try {
    const { documents } = await call<{ documents: Node[][] }>(tenant, "/v1/markdown", { method: "POST", body: { texts } });
    texts.forEach((t, i) => batch.texts.get(t)!.forEach((done) => done(documents[i]!)));
  } catch (e) {
    batch.failed.forEach((f) => f(e));
  }
}

const plain = /^[^*_`#<>[\]|~&\\\n:!-]*$/; // Of such a text, Markdown makes one paragraph.

// Markdown shows a text; until it is parsed, and where it cannot be, as it was written.
export const Markdown = memo(function Markdown({ tenant, text }: { tenant: string; text: string }) {
  const simple = plain.test(text);
  const found = useQuery({
    queryKey: [tenant, "markdown", text],
    queryFn: () => parsed(tenant, text),
    enabled: !simple,
    staleTime: Infinity,
    gcTime: 60_000,
    retry: false,
  });
  if (simple || !found.data) return <div className="text">{text}</div>;
  return <div className="markdown"><Blocks of={found.data} /></div>;
});

export function Blocks({ of }: { of: Node[] | undefined }) {
  return <>{of?.map((n, i) => <Block key={i} of={n} />)}</>;
}

function Block({ of: n }: { of: Node }): ReactNode {
  const nodes = <Blocks of={n.nodes} />;
  switch (n.kind) {
    case "text":
      return n.text;
    case "paragraph":
      return <p>{nodes}</p>;
    case "heading": // Below the headings of the page.
      return <p className={`md-heading l${n.level}`} role="heading" aria-level={Math.min(6, (n.level ?? 1) + 2)}>{nodes}</p>;
    case "list":
      return n.ordered ? <ol start={n.start ?? 1}>{nodes}</ol> : <ul>{nodes}</ul>;
    case "item":
      return <li>{nodes}</li>;
    case "quote":
      return <blockquote>{nodes}</blockquote>;
    case "code_block":
      return <pre tabIndex={0} aria-label={n.language ? `Code, ${n.language}` : "Code"}><code>{n.text}</code></pre>;
    case "rule":
      return <hr />;
    case "table":
      return (
        <div className="md-table" tabIndex={0} role="region" aria-label="Table">
          <table>
            <thead><Blocks of={n.nodes?.filter((r) => r.header)} /></thead>
            <tbody><Blocks of={n.nodes?.filter((r) => !r.header)} /></tbody>
          </table>
        </div>
      );
    case "row":
      return (
        <tr>
          {n.nodes?.map((c, i) => {
            const align = c.align ? `align-${c.align}` : undefined;
            return n.header ? <th key={i} scope="col" className={align}><Blocks of={c.nodes} /></th> : <td key={i} className={align}><Blocks of={c.nodes} /></td>;
          })}
        </tr>
      );
    case "code":
      return <code>{n.text}</code>;
    case "emphasis":
      return <em>{nodes}</em>;
    case "strong":
      return <strong>{nodes}</strong>;
    case "deleted":
      return <s>{nodes}</s>;
    case "break":
      return <br />;
    case "link":
      return <Away of={n} />;
    default:
      return <>{n.text}{nodes}</>;
  }
}

// Away is a link that others wrote, with the host that it goes to.
function Away({ of: n }: { of: Node }) {
  if (!/^(https?:\/\/|mailto:)/.test(n.url ?? "")) return <Blocks of={n.nodes} />;
  const shown = (n.nodes ?? []).map((c) => c.text ?? "").join("");
  return (
    <a href={n.url} target="_blank" rel="noopener noreferrer nofollow ugc">
      <Blocks of={n.nodes} />
      {!shown.startsWith(n.url!.replace(/\/$/, "")) && <span className="md-host"> ({n.host})</span>}
    </a>
  );
}
