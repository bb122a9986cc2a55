import { AlertDialog } from "@base-ui/react/alert-dialog";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { ApiError } from "../api/client";
import { toolApp, type App } from "../api/apps";
import { run } from "../api/forms";
import type { Json } from "../api/json";
import { config } from "../config";
import type { Result } from "../form/output";
import { textOf, isObject } from "../form/spec";
import { Loading } from "../ui/states";
import { theme } from "../ui/theme";
import { connect } from "./bridge";
import { Refusal, code } from "./message";

// AppOf names the app of a result: that of a tool, or of a version of it, and what the tool got.
export interface AppOf {
  tool: string;
  version?: string | undefined;
  input: Json | undefined;
  folded?: boolean; // It is shown when the person asks for it.
}

// AppView shows a result in the page that its server has for it, in a frame that has no origin; children are what the
// console shows of it, which is all there is where the page cannot be shown.
export default function AppView({ tenant, of, result, children }: { tenant: string; of: AppOf; result: Result; children: ReactNode }) {
  const [open, setOpen] = useState(!of.folded);
  const [flooded, setFlooded] = useState(false);
  const found = useQuery({ ...toolApp(tenant, of.tool, of.version), enabled: open });
  if (!open || flooded) {
    return (
      <>
        {flooded && <p className="notice bad">The content of the tool was closed: it sent more messages than are read.</p>}
        {!flooded && <p className="actions"><button type="button" className="button app-open" onClick={() => setOpen(true)}>Show the content of the tool</button></p>}
        {children}
      </>
    );
  }
  if (found.isPending) return <Loading rows={3} />;
  if (found.error) {
    return (
      <>
        <p className="notice">The content of the tool cannot be shown{found.error instanceof ApiError && found.error.detail ? `: ${found.error.detail}` : "."}</p>
        {children}
      </>
    );
  }
  return (
    <>
      <Frame key={found.dataUpdatedAt} tenant={tenant} app={found.data} of={of} result={result} onClose={() => setOpen(false)} onFlood={() => setFlooded(true)} />
      <details className="o-twin">
        <summary>The result without it</summary>
        {children}
      </details>
    </>
  );
}

const dark = () => theme() === "dark" || (theme() === "system" && matchMedia("(prefers-color-scheme: dark)").matches);

function address(app: App): string {
  const query = new URLSearchParams([...app.connect_domains.map((d) => ["connect", d]), ...app.resource_domains.map((d) => ["resource", d])]);
  const text = query.toString();
  return config.apps + (text ? `?${text}` : "");
}

interface Question {
  url: URL;
  answer: (yes: boolean) => void;
}

interface Made {
  run: string;
  tool: string;
  approval?: string;
}

function Frame({ tenant, app, of, result, onClose, onFlood }: { tenant: string; app: App; of: AppOf; result: Result; onClose: () => void; onFlood: () => void }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const bridge = useRef<ReturnType<typeof connect>>(null);
  const [question, setQuestion] = useState<Question>();
  const [made, setMade] = useState<Made[]>([]);
  const [closing, setClosing] = useState(false);

  useEffect(() => {
    const noted = (m: Made) => setMade((all) => [...all.filter((o) => o.run !== m.run), m].slice(-20));
    const b = connect(frame.current!, {
      app, input: of.input, result, dark: dark(), tell: onFlood,
      height: (pixels) => {
        if (frame.current) frame.current.style.height = `${pixels}px`;
      },
      ask: (url) => new Promise((answer) => setQuestion({ url, answer })),
      call: async (tool, input, signal) => {
        let now: Made = { run: "", tool };
        const outcome = await run(tenant, tool, { arguments: input, mode: "production" }, (f) => {
          if (f.event === "begun") noted((now = { ...now, run: textOf(f.data) }));
          const waits = f.event === "tool.needs_approval" && isObject(f.data) && isObject(f.data.data) ? textOf(f.data.data.approval_id) : "";
          if (waits) noted((now = { ...now, approval: waits }));
        }, signal);
        if (now.approval) noted({ run: now.run, tool });
        const output = outcome.invocation?.output as Result | undefined;
        if (!output) throw new Refusal(code.refused, outcome.error ?? `the call is ${outcome.status}`);
        return output;
      },
    });
    bridge.current = b;
    return b.cut;
  }, [tenant, app]);

  const close = async () => {
    setClosing(true);
    await bridge.current?.close();
    onClose();
  };
  const decide = (yes: boolean) => {
    if (yes) window.open(question!.url.href, "_blank", "noopener,noreferrer");
    question!.answer(yes);
    setQuestion(undefined);
  };
  const last = made.findLast((m) => m.approval) ?? made.at(-1);
  return (
    <section className="app-frame" aria-label={`Content from ${app.name}`} hidden={closing}>
      <header>
        <span className="app-of">Content from <strong>{app.name}</strong>, of another server</span>
        <button type="button" className="quiet app-close" onClick={() => void close()}>Close</button>
      </header>
      <iframe ref={frame} title={`Content from ${app.name}`} sandbox="allow-scripts" referrerPolicy="no-referrer" src={address(app)} />
      {last && (
        <p className="app-calls" role="status">
          {last.approval ? <>A call of {last.tool} waits for an approval. <Link to="/t/$tenant/approvals" params={{ tenant }} search={{ open: last.approval }}>Look at the request</Link></>
            : <>It made {made.length === 1 ? "a call" : `${made.length} calls`} as you, last of <Link to="/t/$tenant/runs/$run" params={{ tenant, run: last.run }}>{last.tool}</Link>.</>}
        </p>
      )}
      {question && (
        <AlertDialog.Root open onOpenChange={(open) => !open && decide(false)}>
          <AlertDialog.Portal>
            <AlertDialog.Backdrop className="backdrop" />
            <AlertDialog.Popup className="dialog">
              <AlertDialog.Title>Open a page of {question.url.host}?</AlertDialog.Title>
              <AlertDialog.Description>The content of {app.name} asks to open it in a new tab. What the address holds is sent there:</AlertDialog.Description>
              <p className="text app-link">{question.url.href}</p>
              <div className="actions">
                <AlertDialog.Close className="button">Stay here</AlertDialog.Close>
                <button type="button" className="button" onClick={() => decide(true)}>Open {question.url.host}</button>
              </div>
            </AlertDialog.Popup>
          </AlertDialog.Portal>
        </AlertDialog.Root>
      )}
    </section>
  );
}
