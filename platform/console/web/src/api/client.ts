import { config } from "../config";
import { parse, parseInSlices, print } from "./json";

// Fault is one thing that is wrong with a request, and its place in the body: a JSON Pointer.
export interface Fault {
  path?: string;
  detail: string;
}

// ApiError is a problem of the server, or that it could not be asked.
export class ApiError extends Error {
  constructor(
    readonly kind: string,
    readonly status: number,
    readonly detail: string,
    readonly trace?: string,
    readonly permissions: string[] = [],
    readonly faults: Fault[] = [],
  ) {
    super(detail);
  }
  // absent covers what does not exist and what may not be seen: both look the same.
  get absent(): boolean {
    return this.status === 404 || this.status === 403;
  }
}

export type Query = Record<string, string | number | boolean | undefined>;

export interface Ask {
  method?: string;
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
  headers?: Record<string, string>;
  once?: string; // Idempotency key: a second request with it is answered as the first one.
}

// signedOut is called where the session has ended.
let signedOut = (): void => {};
export const onSignedOut = (fn: () => void): void => void (signedOut = fn);

// done is when a person last did something in this tab; opening it is the first.
let done = Date.now();
for (const event of ["pointerdown", "pointermove", "keydown", "wheel", "touchstart"]) {
  window.addEventListener(event, (e) => { if (e.isTrusted) done = Date.now(); }, { capture: true, passive: true });
}

// attended reports whether what is asked now may be due to a person. What pages ask by themselves, after an event of
// the stream or once in a while, is no use of the session.
const attended = (): boolean => Date.now() - done < 10_000;

export function address(path: string, query?: Query): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined && value !== "") params.set(name, String(value));
  }
  const text = params.toString();
  return config.prefix + path + (text ? "?" + text : "");
}

let failed = false; // The last request did not reach the server.

// unreached reports whether the server is away, as far as this tab knows.
export const unreached = (): boolean => failed;

// send makes a request of a tenant, or of none, and checks that the answer is of the same.
export async function send(tenant: string | undefined, path: string, ask: Ask, accept: string): Promise<Response> {
  const headers: Record<string, string> = { Accept: accept, ...ask.headers };
  const method = ask.method ?? "GET";
  if (tenant) headers["X-Toolcrib-Tenant"] = tenant;
  if (!attended()) headers["X-Toolcrib-Background"] = "1";
  if (ask.once) headers["Idempotency-Key"] = ask.once;
  if (method !== "GET") {
    headers["X-Toolcrib"] = "1";
    headers["Content-Type"] = "application/json";
  }
  let answer: Response;
  try {
    answer = await fetch(address(path, ask.query), {
      method, headers, cache: "no-store", credentials: "same-origin", redirect: "error",
      ...(ask.body !== undefined && { body: print(ask.body) }),
      ...(ask.signal && { signal: ask.signal }),
    });
  } catch (cause) {
    if (ask.signal?.aborted) throw cause;
    failed = true;
    throw new ApiError("unavailable", 0, "The server cannot be reached.");
  }
  failed = false;
  if (!answer.ok) throw await problem(answer, tenant !== undefined);
  const of = answer.headers.get("X-Toolcrib-Tenant");
  if (tenant && of !== tenant) throw new ApiError("internal", 0, "The answer is of another tenant. It is not shown.");
  return answer;
}

async function problem(answer: Response, inTenant: boolean): Promise<ApiError> {
  const trace = answer.headers.get("X-Request-Id") ?? undefined;
  try {
    const p = JSON.parse(await answer.text());
    if (answer.status === 401 && inTenant) signedOut();
    const detail = String(p.detail ?? p.title ?? "");
    const faults: Fault[] = p.errors ?? (p.path !== undefined ? [{ path: p.path, detail }] : []);
    return new ApiError(String(p.code ?? "internal"), answer.status, detail, p.trace_id ?? trace, p.permissions, faults);
  } catch {
    return new ApiError("internal", answer.status, `The server answered with status ${answer.status}.`, trace);
  }
}

const large = 200_000; // Characters that are read at once.

// call returns the body of an answer. Members of any JSON keep their numbers; see json.ts.
export async function call<T>(tenant: string | undefined, path: string, ask: Ask = {}): Promise<T> {
  const answer = await send(tenant, path, ask, "application/json");
  const text = await answer.text();
  return (text ? (text.length > large ? await parseInSlices(text) : parse(text)) : undefined) as T;
}
