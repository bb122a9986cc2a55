import { at, one } from "./queries";
import type { components } from "./schema";

type Schemas = components["schemas"];

// App is the page that an MCP server has for the results of a tool.
export type App = Schemas["ToolApp"];

// toolApp asks the server for it, once each time that it is shown: what is shown does not change by itself.
export const toolApp = (tenant: string, tool: string, version?: string) => ({
  ...one<App>(tenant, ["app", tool], `/v1/tools/${at(tool)}/app`, { version }), staleTime: Infinity, gcTime: 0, retry: false, refetchOnWindowFocus: false, refetchOnReconnect: false,
});
