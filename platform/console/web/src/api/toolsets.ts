import { at, list, one, type List } from "./queries";
import type { Query } from "./client";
import type { components } from "./schema";

// What the pages of toolsets, and of the sites that may frame tools, ask.

type Schemas = components["schemas"];
export type Toolset = Schemas["Toolset"];
export type EmbedOrigin = Schemas["EmbedOrigin"];

export const toolsets = (t: string, q: Query) => list<Toolset>(t, "toolsets", "/v1/toolsets", q);
export const toolset = (t: string, slug: string) => one<Toolset>(t, ["toolsets", slug], `/v1/toolsets/${at(slug)}`);
export const embedOrigins = (t: string) => one<List<EmbedOrigin>>(t, ["embed-origins"], "/v1/embed-origins");

// snippet is the entry of a client's configuration file for an MCP server, as toolcrib mcp config prints it. The key is
// no part of it: it is a variable of the client.
export function snippet(client: string, url: string, name: string): string {
  const key = { claude: "${TOOLCRIB_KEY}", cursor: "${env:TOOLCRIB_KEY}", vscode: "${input:toolcrib-key}" }[client] ?? "";
  const entry = { ...(client !== "cursor" && { type: "http" }), url, headers: { Authorization: `Bearer ${key}` } };
  const file = client === "vscode"
    ? { servers: { [name]: entry }, inputs: [{ type: "promptString", id: "toolcrib-key", description: "API key of Toolcrib", password: true }] }
    : { mcpServers: { [name]: entry } };
  return JSON.stringify(file, null, 2);
}
