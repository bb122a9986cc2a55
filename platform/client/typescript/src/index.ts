/**
 * Answers calls of Toolcrib tools of the type `client`, in a browser or in Node.js 20 and later.
 *
 * An {@link Executor} has a key with the permission `results.submit`, and answers the calls of its
 * tools as they come. {@link answer} answers one call with a token for it, for pages without a key.
 */

/** A call that is answered from outside, as the API shows it. */
export interface PendingCall {
  /** Id of the call's invocation. A handler with an effect should use it to have that once. */
  id: string;
  run_id: string;
  root_run_id: string;
  /** As the caller, such as a model, named the call. */
  call_id: string;
  tool: string;
  version: string;
  /** They fit the input schema of the tool. */
  arguments?: unknown;
  intent?: "render" | "action" | "compute";
  /** Whether the call is meant for people. */
  shown: boolean;
  requires_response: boolean;
  is_async: boolean;
  status: "waiting" | "pending" | "resolved" | "expired" | "cancelled";
  /** Until when the caller waits, in RFC 3339; absent where it does not. */
  answer_by?: string;
  /** When no result is taken any more, in RFC 3339. */
  expires_at: string;
}

/** A call with its result. */
export interface Submitted extends PendingCall {
  /** The call had a result before, which it keeps. */
  repeated: boolean;
  /** The result came after the call had ended without it: it goes to the inbox of the run. */
  late?: boolean;
}

/**
 * Answers a call. What it returns is sent as JSON; what it throws is an answer too, whose message
 * the caller, such as a model, is shown. The signal is aborted when the answer is no longer awaited.
 */
export type Handler = (call: PendingCall, signal: AbortSignal) => unknown;

/** Where the server is, and who asks. */
export interface Connection {
  /** Address of the server, such as `https://tools.example.com`. */
  server: string;
  /** An API key, or a token for one call. */
  key: string;
  /** Used instead of the global `fetch`. */
  fetch?: typeof fetch;
}

export interface ExecutorOptions extends Connection {
  /** By the slug of the tool. */
  handlers: Record<string, Handler>;
  /** How many handlers run at once; 16 by default. */
  concurrency?: number;
  /** Is told of failures that are tried again, and of results that were not taken. */
  onError?: (error: unknown, call?: PendingCall) => void;
}

/** An error of the API: `status` is that of HTTP, `problem` the body (RFC 9457). */
export class ApiError extends Error {
  readonly status: number;
  readonly problem: unknown;

  constructor(status: number, problem: unknown) {
    const said = problem as { detail?: unknown; title?: unknown } | undefined;
    super(String(said?.detail ?? said?.title ?? `the server answered ${status}`));
    this.name = "ApiError";
    this.status = status;
    this.problem = problem;
  }

  /** Whether the same request may succeed later. */
  get temporary(): boolean {
    return this.status === 408 || this.status === 429 || this.status >= 500;
  }
}

const watchSeconds = 20;
const slowestRetry = 5000;
const submissions = 20;

/** Answers the calls of some tools, until it is stopped. */
export class Executor {
  readonly #options: ExecutorOptions;
  readonly #taken = new Set<string>();
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(options: ExecutorOptions) {
    if (Object.keys(options.handlers).length === 0) {
      throw new TypeError("an executor needs the handler of at least one tool");
    }
    this.#options = options;
  }

  /**
   * Answers calls until the signal is aborted, then resolves when the handlers that run have ended.
   * Rejects with an {@link ApiError} where watching is of no use, such as for a key that may not.
   */
  async run(signal?: AbortSignal): Promise<void> {
    const stop = signal ?? new AbortController().signal;
    const answers = new Set<Promise<void>>();
    let seen = "";
    let failures = 0;
    try {
      while (!stop.aborted) {
        let open: { items: PendingCall[]; seen: string };
        try {
          open = await this.#watch(seen, stop);
        } catch (error) {
          if (stop.aborted) break;
          if (error instanceof ApiError && !error.temporary) throw error;
          this.#options.onError?.(error);
          await pause(Math.min(1000 * 2 ** failures++, slowestRetry), stop);
          continue;
        }
        seen = open.seen;
        failures = 0;
        this.#forget(open.items);
        for (const call of [...open.items].reverse()) {
          if (this.#taken.has(call.id)) continue;
          this.#taken.add(call.id);
          await this.#place();
          if (stop.aborted) break;
          const answered = this.#answer(call, stop).finally(() => {
            answers.delete(answered);
            this.#running--;
            this.#waiting.shift()?.();
          });
          answers.add(answered);
        }
      }
    } finally {
      await Promise.allSettled(answers);
    }
  }

  async #watch(seen: string, signal: AbortSignal): Promise<{ items: PendingCall[]; seen: string }> {
    const query = new URLSearchParams({ seen, wait_s: String(watchSeconds) });
    for (const tool of Object.keys(this.#options.handlers)) query.append("tool", tool);
    return request(this.#options, "GET", `/v1/open-tool-calls?${query}`, undefined, signal);
  }

  /** Drops calls that are not open any more: they are not shown again. */
  #forget(open: PendingCall[]): void {
    const ids = new Set(open.map((call) => call.id));
    for (const id of this.#taken) if (!ids.has(id)) this.#taken.delete(id);
  }

  async #place(): Promise<void> {
    while (this.#running >= (this.#options.concurrency ?? 16)) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#running++;
  }

  async #answer(call: PendingCall, stop: AbortSignal): Promise<void> {
    try {
      const handler = this.#options.handlers[call.tool];
      if (handler) await answered(this.#options, call, handler, stop, this.#options.onError);
    } catch (error) {
      if (stop.aborted) return;
      this.#options.onError?.(error, call);
      if (!(error instanceof ApiError) || error.temporary) this.#taken.delete(call.id);
    }
  }
}

/**
 * Answers one call, and resolves with what became of it: where the call had a result before, that
 * is `repeated`. With a token for the call, it needs no key.
 */
export async function answer(
  connection: Connection,
  callId: string,
  handler: Handler,
  signal?: AbortSignal,
): Promise<Submitted> {
  const stop = signal ?? new AbortController().signal;
  const call = await request<PendingCall>(connection, "GET", path(callId), undefined, stop);
  return answered(connection, call, handler, stop);
}

/** Submits a result, or why there is none. A call keeps its first result. */
export async function submit(
  connection: Connection,
  callId: string,
  result: unknown,
  options: { isError?: boolean; signal?: AbortSignal } = {},
): Promise<Submitted> {
  const body = { result: result ?? null, is_error: options.isError ?? false };
  return request(connection, "POST", `${path(callId)}/result`, body, options.signal);
}

/** Runs a handler and submits what it returns or throws. */
async function answered(
  connection: Connection,
  call: PendingCall,
  handler: Handler,
  stop: AbortSignal,
  onError?: (error: unknown, call?: PendingCall) => void,
): Promise<Submitted> {
  const left = call.status === "waiting" && call.answer_by ? Date.parse(call.answer_by) - Date.now() : undefined;
  const inTime = left === undefined ? stop : AbortSignal.any([stop, AbortSignal.timeout(Math.max(left, 0))]);
  let result: unknown;
  let isError = false;
  try {
    result = await handler(call, inTime);
  } catch (error) {
    result = error instanceof Error ? error.message : String(error);
    isError = true;
  }
  stop.throwIfAborted(); // What the handler made of that is no answer.
  for (let tries = 0; ; tries++) {
    try {
      return await submit(connection, call.id, result, { isError, signal: stop });
    } catch (error) {
      if (error instanceof ApiError && error.status === 422 && !isError) {
        // The answer breaks the output schema: the caller learns why, and does not wait.
        onError?.(error, call);
        result = `the answer was refused: ${error.message}`;
        isError = true;
      } else if (stop.aborted || tries >= submissions || (error instanceof ApiError && !error.temporary)) {
        throw error;
      } else {
        await pause(Math.min(200 * 2 ** tries, slowestRetry), stop);
      }
    }
  }
}

const path = (callId: string) => `/v1/pending-tool-calls/${encodeURIComponent(callId)}`;

async function request<T>(
  connection: Connection,
  method: string,
  target: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<T> {
  const send = connection.fetch ?? globalThis.fetch;
  const headers: Record<string, string> = { authorization: `Bearer ${connection.key}`, accept: "application/json" };
  const init: RequestInit = { method, headers };
  if (body !== undefined) {
    headers["content-type"] = "application/json";
    init.body = JSON.stringify(body);
  }
  if (signal) init.signal = signal;
  const response = await send(connection.server.replace(/\/+$/, "") + target, init);
  const text = await response.text();
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = undefined;
  }
  if (!response.ok) throw new ApiError(response.status, parsed);
  return parsed as T;
}

/** Resolves after a time, or when the signal is aborted. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener("abort", done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}
