import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { tenant, texts } from "./base";

// What tools reach: credentials, servers, pipelines.

const mcpServers = createRoute({
  getParentRoute: () => tenant,
  path: "/mcp-servers",
  validateSearch: texts("cursor", "new"),
  component: lazyRouteComponent(() => import("../pages/inbox/servers"), "Servers"),
});

const mcpServer = createRoute({
  getParentRoute: () => tenant,
  path: "/mcp-servers/$server",
  validateSearch: texts("tab", "state", "cursor"),
  component: lazyRouteComponent(() => import("../pages/inbox/server"), "ServerPage"),
});

export const connectRoutes = [mcpServers, mcpServer] as const;
