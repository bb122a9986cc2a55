/**
 * Answers calls of Toolcrib tools of the type `client`, in a browser or in Node.js 20 and later.
 *
 * An {@link Executor} has a key with the permission `results.submit`, and answers the calls of its
 * tools as they come. {@link answer} answers one call with a token for it, for pages without a key.
 */
/** An error of the API: `status` is that of HTTP, `problem` the body (RFC 9457). */
export class ApiError extends Error {
    status;
    problem;
    constructor(status, problem) {
        const said = problem;
        super(String(said?.detail ?? said?.title ?? `the server answered ${status}`));
        this.name = "ApiError";
        this.status = status;
        this.problem = problem;
    }
    /** Whether the same request may succeed later. */
    get temporary() {
        return this.status === 408 || this.status === 429 || this.status >= 500;
    }
}
const watchSeconds = 20;
const slowestRetry = 5000;
const submissions = 20;
/** Answers the calls of some tools, until it is stopped. */
export class Executor {
    #options;
    #taken = new Set();
    #waiting = [];
    #running = 0;
    constructor(options) {
        if (Object.keys(options.handlers).length === 0) {
            throw new TypeError("an executor needs the handler of at least one tool");
        }
        this.#options = options;
    }
    /**
     * Answers calls until the signal is aborted, then resolves when the handlers that run have ended.
     * Rejects with an {@link ApiError} where watching is of no use, such as for a key that may not.
     */
    async run(signal) {
        const stop = signal ?? new AbortController().signal;
        const answers = new Set();
        let seen = "";
        let failures = 0;
        try {
            while (!stop.aborted) {
                let open;
                try {
                    open = await this.#watch(seen, stop);
                }
                catch (error) {
                    if (stop.aborted)
                        break;
                    if (error instanceof ApiError && !error.temporary)
                        throw error;
                    this.#options.onError?.(error);
                    await pause(Math.min(1000 * 2 ** failures++, slowestRetry), stop);
                    continue;
                }
                seen = open.seen;
                failures = 0;
                this.#forget(open.items);
                for (const call of [...open.items].reverse()) {
                    if (this.#taken.has(call.id))
                        continue;
                    this.#taken.add(call.id);
                    await this.#place();
                    if (stop.aborted)
                        break;
                    const answered = this.#answer(call, stop).finally(() => {
                        answers.delete(answered);
                        this.#running--;
                        this.#waiting.shift()?.();
                    });
                    answers.add(answered);
                }
            }
        }
        finally {
            await Promise.allSettled(answers);
        }
    }
    async #watch(seen, signal) {
        const query = new URLSearchParams({ seen, wait_s: String(watchSeconds) });
        for (const tool of Object.keys(this.#options.handlers))
            query.append("tool", tool);
        return request(this.#options, "GET", `/v1/open-tool-calls?${query}`, undefined, signal);
    }
    /** Drops calls that are not open any more: they are not shown again. */
    #forget(open) {
        const ids = new Set(open.map((call) => call.id));
        for (const id of this.#taken)
            if (!ids.has(id))
                this.#taken.delete(id);
    }
    async #place() {
        while (this.#running >= (this.#options.concurrency ?? 16)) {
            await new Promise((resolve) => this.#waiting.push(resolve));
        }
        this.#running++;
    }
    async #answer(call, stop) {
        try {
            const handler = this.#options.handlers[call.tool];
            if (handler)
                await answered(this.#options, call, handler, stop, this.#options.onError);
        }
        catch (error) {
            if (stop.aborted)
                return;
            this.#options.onError?.(error, call);
            if (!(error instanceof ApiError) || error.temporary)
                this.#taken.delete(call.id);
        }
    }
}
/**
 * Answers one call, and resolves with what became of it: where the call had a result before, that
 * is `repeated`. With a token for the call, it needs no key.
 */
export async function answer(connection, callId, handler, signal) {
    const stop = signal ?? new AbortController().signal;
    const call = await request(connection, "GET", path(callId), undefined, stop);
    return answered(connection, call, handler, stop);
}
/** Submits a result, or why there is none. A call keeps its first result. */
export async function submit(connection, callId, result, options = {}) {
    const body = { result: result ?? null, is_error: options.isError ?? false };
    return request(connection, "POST", `${path(callId)}/result`, body, options.signal);
}
/** Runs a handler and submits what it returns or throws. */
async function answered(connection, call, handler, stop, onError) {
    const left = call.status === "waiting" && call.answer_by ? Date.parse(call.answer_by) - Date.now() : undefined;
    const inTime = left === undefined ? stop : AbortSignal.any([stop, AbortSignal.timeout(Math.max(left, 0))]);
    let result;
    let isError = false;
    try {
        result = await handler(call, inTime);
    }
    catch (error) {
        result = error instanceof Error ? error.message : String(error);
        isError = true;
    }
    stop.throwIfAborted(); // What the handler made of that is no answer.
    for (let tries = 0;; tries++) {
        try {
            return await submit(connection, call.id, result, { isError, signal: stop });
        }
        catch (error) {
            if (error instanceof ApiError && error.status === 422 && !isError) {
                // The answer breaks the output schema: the caller learns why, and does not wait.
                onError?.(error, call);
                result = `the answer was refused: ${error.message}`;
                isError = true;
            }
            else if (stop.aborted || tries >= submissions || (error instanceof ApiError && !error.temporary)) {
                throw error;
            }
            else {
                await pause(Math.min(200 * 2 ** tries, slowestRetry), stop);
            }
        }
    }
}
const path = (callId) => `/v1/pending-tool-calls/${encodeURIComponent(callId)}`;
async function request(connection, method, target, body, signal) {
    const send = connection.fetch ?? globalThis.fetch;
    const headers = { authorization: `Bearer ${connection.key}`, accept: "application/json" };
    const init = { method, headers };
    if (body !== undefined) {
        headers["content-type"] = "application/json";
        init.body = JSON.stringify(body);
    }
    if (signal)
        init.signal = signal;
    const response = await send(connection.server.replace(/\/+$/, "") + target, init);
    const text = await response.text();
    let parsed;
    try {
        parsed = JSON.parse(text);
    }
    catch {
        parsed = undefined;
    }
    if (!response.ok)
        throw new ApiError(response.status, parsed);
    return parsed;
}
/** Resolves after a time, or when the signal is aborted. */
function pause(milliseconds, signal) {
    return new Promise((resolve) => {
        const timer = setTimeout(done, milliseconds);
        signal.addEventListener("abort", done, { once: true });
        function done() {
            clearTimeout(timer);
            signal.removeEventListener("abort", done);
            resolve();
        }
    });
}
