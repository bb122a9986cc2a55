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
export declare class ApiError extends Error {
    readonly status: number;
    readonly problem: unknown;
    constructor(status: number, problem: unknown);
    /** Whether the same request may succeed later. */
    get temporary(): boolean;
}
/** Answers the calls of some tools, until it is stopped. */
export declare class Executor {
    #private;
    constructor(options: ExecutorOptions);
    /**
     * Answers calls until the signal is aborted, then resolves when the handlers that run have ended.
     * Rejects with an {@link ApiError} where watching is of no use, such as for a key that may not.
     */
    run(signal?: AbortSignal): Promise<void>;
}
/**
 * Answers one call, and resolves with what became of it: where the call had a result before, that
 * is `repeated`. With a token for the call, it needs no key.
 */
export declare function answer(connection: Connection, callId: string, handler: Handler, signal?: AbortSignal): Promise<Submitted>;
/** Submits a result, or why there is none. A call keeps its first result. */
export declare function submit(connection: Connection, callId: string, result: unknown, options?: {
    isError?: boolean;
    signal?: AbortSignal;
}): Promise<Submitted>;
