import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../load";
import { tenant, texts } from "./base";

// What tools reach: credentials, servers, pipelines.

const mcpServers = createRoute({
  getParentRoute: () => tenant,
  path: "/mcp-servers",
  validateSearch: texts("cursor", "new"),
  component: lazyPage(() => import("../pages/inbox/servers"), "Servers"),
});

const mcpServer = createRoute({
  getParentRoute: () => tenant,
  path: "/mcp-servers/$server",
  validateSearch: texts("tab", "state", "cursor"),
  component: lazyPage(() => import("../pages/inbox/server"), "ServerPage"),
});

const credentials = createRoute({
  getParentRoute: () => tenant,
  path: "/credentials",
  validateSearch: texts("cursor", "open"),
  component: lazyPage(() => import("../pages/connect/credentials"), "Credentials"),
});

const pipelines = createRoute({
  getParentRoute: () => tenant,
  path: "/pipelines",
  validateSearch: texts("cursor", "open"),
  component: lazyPage(() => import("../pages/connect/pipelines"), "Pipelines"),
});

const pipeline = createRoute({
  getParentRoute: () => tenant,
  path: "/pipelines/$pipeline",
  validateSearch: texts("tab", "status", "cursor", "open", "q", "mode"),
  component: lazyPage(() => import("../pages/connect/pipeline"), "PipelinePage"),
});

const toolsets = createRoute({
  getParentRoute: () => tenant,
  path: "/toolsets",
  validateSearch: texts("cursor", "new"),
  component: lazyPage(() => import("../pages/connect/toolsets"), "Toolsets"),
});

const toolset = createRoute({
  getParentRoute: () => tenant,
  path: "/toolsets/$toolset",
  validateSearch: texts("tab", "client", "search", "bucket", "type", "shown"),
  component: lazyPage(() => import("../pages/connect/toolset"), "ToolsetPage"),
});

export const connectRoutes = [mcpServers, mcpServer, toolsets, toolset, credentials, pipelines, pipeline] as const;
