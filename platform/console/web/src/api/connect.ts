import { queryOptions } from "@tanstack/react-query";
import { ApiError, call, type Query } from "./client";
import { at, list, one, type List } from "./queries";
import type { components } from "./schema";

// What the pages of credentials and pipelines ask.

type Schemas = components["schemas"];
export type Credential = Schemas["Credential"];
export type Pipeline = Schemas["Pipeline"];
export type Document = Schemas["Document"];
export type DocumentText = Schemas["DocumentText"];
export type PipelineAnswer = Schemas["PipelineAnswer"];
type Tool = Schemas["Tool"];

export const credentials = (t: string, q: Query) => list<Credential>(t, "credentials", "/v1/credentials", q);
export const credential = (t: string, ref: string) => one<Credential>(t, ["credentials", ref], `/v1/credentials/${at(ref)}`);
export const pipelines = (t: string, q: Query) => list<Pipeline>(t, "pipelines", "/v1/pipelines", q);
export const pipeline = (t: string, slug: string) => one<Pipeline>(t, ["pipelines", slug], `/v1/pipelines/${at(slug)}`);
export const documents = (t: string, slug: string, q: Query) => list<Document>(t, `pipelines/${slug}/documents`, `/v1/pipelines/${at(slug)}/documents`, q);
export const document_ = (t: string, slug: string, id: string) => one<Document>(t, [`pipelines/${slug}/documents`, id], `/v1/pipelines/${at(slug)}/documents/${at(id)}`);

// documentText is the beginning of what is searched of a document; all of it where it is not longer.
export const textShown = 20_000;
export const documentText = (t: string, slug: string, id: string, version: number) =>
  queryOptions({
    queryKey: [t, `pipelines/${slug}/documents`, id, "text", version],
    queryFn: async ({ signal }) => {
      const path = `/v1/pipelines/${at(slug)}/documents/${at(id)}/text`;
      try {
        return await call<DocumentText>(t, path, { query: { end: textShown }, signal });
      } catch (e) {
        if (!(e instanceof ApiError) || e.status !== 422) throw e;
        return call<DocumentText>(t, path, { signal }); // It ends before that.
      }
    },
    retry: false,
  });

export const search = (t: string, slug: string, query: string, mode: string | undefined) =>
  queryOptions({
    queryKey: [t, `pipelines/${slug}/search`, query, mode],
    queryFn: ({ signal }) => call<PipelineAnswer>(t, `/v1/pipelines/${at(slug)}/search`, { method: "POST", signal, body: { query, mode, limit: 10 } }),
    retry: false,
  });

const pages = 5;

// refers says whether any member names the credential.
const refers = (v: unknown, ref: string): boolean =>
  typeof v === "object" && v !== null && Object.entries(v).some(([name, x]) => ((name === "credentials_ref" || name === "credentials") && x === ref) || refers(x, ref));

export interface Users {
  tools: string[];
  pipelines: string[];
  more: boolean; // There are tools or pipelines that were not looked at.
}

// usersOf looks through the tools and pipelines for those that name a credential: through the first 1000.
export const usersOf = (t: string, ref: string) =>
  queryOptions({
    queryKey: [t, "credentials", ref, "users"],
    queryFn: async ({ signal }): Promise<Users> => {
      const all = async <T>(path: string): Promise<{ items: T[]; more: boolean }> => {
        const items: T[] = [];
        let cursor: string | undefined;
        for (let i = 0; i < pages; i++) {
          const found = await call<List<T>>(t, path, { signal, query: { limit: 200, cursor } });
          items.push(...found.items);
          cursor = found.next || undefined;
          if (!cursor) break;
        }
        return { items, more: !!cursor };
      };
      const [tools, shelves] = await Promise.all([all<Tool>("/v1/tools"), all<Pipeline>("/v1/pipelines").catch(() => ({ items: [] as Pipeline[], more: true }))]);
      return {
        tools: tools.items.filter((v) => refers(v.implementation_config, ref)).map((v) => v.slug),
        pipelines: shelves.items.filter((v) => refers(v.embedding, ref) || refers(v.reembedding, ref)).map((v) => v.slug),
        more: tools.more || shelves.more,
      };
    },
  });
