import { call, type Query } from "./client";
import { at, list, one, type List } from "./queries";
import type { components } from "./schema";

// What the page of one's own account asks, and who is signed in to a tenant.

type Schemas = components["schemas"];
export type BrowserSession = Schemas["BrowserSession"];

export const ownSessions = (t: string, cursor?: string) => list<BrowserSession>(t, "own-sessions", "/v1/me/sessions", { cursor });
export const endOwn = (t: string, id: string) => call<void>(t, `/v1/me/sessions/${at(id)}`, { method: "DELETE" });
export const endOthers = (t: string) => call<Schemas["EndedSessions"]>(t, "/v1/me/sessions", { method: "DELETE" });

export const sessionsOf = (t: string, subject: string) => one<List<BrowserSession>>(t, ["sessions"], "/v1/sessions", { subject } satisfies Query);
export const endSession = (t: string, id: string) => call<void>(t, `/v1/sessions/${at(id)}`, { method: "DELETE" });
