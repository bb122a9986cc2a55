import type { App } from "../api/apps";
import type { Json } from "../api/json";
import type { Result } from "../form/output";
import { argumentsOf, code, plain, protocolVersion, read, Refusal, toolResult, type Id, type Message } from "./message";

// The side of the console in the protocol of MCP Apps. The frame has no origin, so what it sends is known by its
// window alone; nothing that it sends is trusted.

export interface Host {
  app: App;
  input: Json | undefined;
  result: Result;
  dark: boolean;
  // height is asked for by the app, within bounds.
  height: (pixels: number) => void;
  // call calls a tool as the person who looks, on the way of every call, until it has ended.
  call: (tool: string, input: Json, signal: AbortSignal) => Promise<Result>;
  // ask asks the person whether to open a link.
  ask: (url: URL) => Promise<boolean>;
  // tell says that the app sends more than is read.
  tell: (flood: boolean) => void;
}

export const bounds = { least: 60, most: 600 };
const calls = { atOnce: 4, inAMinute: 30 };
const messages = { inASecond: 100, lost: 5000 };
const farewell = 500; // Milliseconds that an app has to end.

// connect serves the app in a frame, until it is closed. close tells the app, and resolves when it has ended.
export function connect(frame: HTMLIFrameElement, host: Host): { close: () => Promise<void>; cut: () => void } {
  const stop = new AbortController();
  let given = false; // The frame has the HTML.
  let begun = false; // The app has initialized.
  let height = 0;
  let second = 0;
  let taken = 0;
  let lost = 0;
  let running = 0;
  let recent: number[] = [];
  let asking = false;
  let declined = 0;
  let ended = (): void => {};

  const post = (m: Record<string, unknown>) => frame.contentWindow?.postMessage({ jsonrpc: "2.0", ...m }, "*"); // It has no origin to name.

  // tooMany bounds what is read of the app.
  const tooMany = (): boolean => {
    const now = Math.floor(performance.now() / 1000);
    if (now !== second) [second, taken] = [now, 0];
    if (++taken <= messages.inASecond) return false;
    if (++lost === messages.lost) {
      cut();
      host.tell(true);
    }
    return true;
  };

  const answer = async (id: Id, m: Message) => {
    try {
      post({ id, result: await serve(m.method!, m.params) });
    } catch (e) {
      post({ id, error: e instanceof Refusal ? { code: e.code, message: e.message } : { code: code.refused, message: e instanceof Error ? e.message : "it failed" } });
    }
  };

  const serve = async (method: string, params: Record<string, unknown>): Promise<Record<string, unknown>> => {
    switch (method) {
      case "ping":
        return {};
      case "ui/initialize":
        return initialize();
      case "ui/request-display-mode":
        return { mode: "inline" };
      case "ui/open-link":
        return open(params);
      case "tools/call":
        return callTool(params);
      default:
        throw new Refusal(code.unknown, `${method.slice(0, 100)} is not served here`);
    }
  };

  const initialize = () => ({
    protocolVersion,
    hostInfo: { name: "toolcrib", version: "1" },
    hostCapabilities: {
      openLinks: {},
      ...(host.app.tools.length > 0 && { serverTools: {} }),
      sandbox: { csp: { connectDomains: host.app.connect_domains, resourceDomains: host.app.resource_domains } },
    },
    hostContext: {
      ...(host.app.input_schema !== undefined && { toolInfo: { tool: { name: host.app.remote_name, inputSchema: plain(host.app.input_schema as Json) } } }),
      theme: host.dark ? "dark" : "light", displayMode: "inline", availableDisplayModes: ["inline"], containerDimensions: { maxHeight: bounds.most },
      locale: navigator.language, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone, userAgent: "toolcrib", platform: "web",
    },
  });

  const callTool = async (params: Record<string, unknown>) => {
    const found = host.app.tools.find((t) => t.name === params.name);
    if (!found) throw new Refusal(code.invalid, "there is no such tool of this server for apps");
    const input = argumentsOf(params.arguments);
    const now = performance.now();
    recent = recent.filter((at) => now - at < 60_000);
    if (running >= calls.atOnce || recent.length >= calls.inAMinute) throw new Refusal(code.refused, "too many calls: try later");
    recent.push(now);
    running++;
    try {
      return toolResult(await host.call(found.tool, input, stop.signal));
    } finally {
      running--;
    }
  };

  const open = async (params: Record<string, unknown>) => {
    let url: URL;
    try {
      url = new URL(String(params.url).slice(0, 2048));
    } catch {
      throw new Refusal(code.invalid, "the URL is malformed");
    }
    if (url.protocol !== "https:" && url.protocol !== "http:") throw new Refusal(code.invalid, "only links of the web are opened");
    if (asking || declined >= 3) throw new Refusal(code.refused, "no more links are opened for this app");
    asking = true;
    try {
      if (!(await host.ask(url))) {
        declined++;
        throw new Refusal(code.refused, "the person did not open the link");
      }
    } finally {
      asking = false;
    }
    return {};
  };

  const hear = (m: Message) => {
    switch (m.method) {
      case "ui/notifications/initialized":
        if (begun) return;
        begun = true;
        post({ method: "ui/notifications/tool-input", params: { arguments: plain(host.input) ?? {} } });
        post({ method: "ui/notifications/tool-result", params: toolResult(host.result) });
        return;
      case "ui/notifications/size-changed":
        if (typeof m.params.height !== "number" || !Number.isFinite(m.params.height)) return;
        if (height === 0) requestAnimationFrame(() => {
          if (!stop.signal.aborted) host.height(height);
          height = 0;
        });
        height = Math.min(bounds.most, Math.max(bounds.least, Math.ceil(m.params.height)));
    }
  };

  const take = (e: MessageEvent) => {
    if (e.source !== frame.contentWindow || e.source === null || e.origin !== "null" || tooMany()) return;
    const m = read(e.data);
    if (!m) return;
    if (!given) { // The page of the sandbox asks for the HTML, once.
      if (m.method !== "ui/notifications/sandbox-proxy-ready") return;
      given = true;
      post({ method: "ui/notifications/sandbox-resource-ready", params: { html: host.app.html } });
    } else if (m.answers) {
      if (m.id === teardown) ended();
    } else if (m.id !== undefined) void answer(m.id, m);
    else hear(m);
  };
  addEventListener("message", take);

  const cut = () => {
    stop.abort();
    removeEventListener("message", take);
    ended();
  };
  return {
    cut,
    close: () => {
      const gone = new Promise<void>((resolve) => {
        ended = resolve;
        if (!begun) return resolve();
        post({ id: teardown, method: "ui/resource-teardown", params: { reason: "the person closed it" } });
        setTimeout(resolve, farewell);
      });
      return gone.then(cut);
    },
  };
}

const teardown = "toolcrib-teardown";
