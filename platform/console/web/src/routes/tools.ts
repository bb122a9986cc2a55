import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { tenant, texts } from "./base";

// The registry: tools, their versions, and calls of them.

const tools = createRoute({
  getParentRoute: () => tenant,
  path: "/tools",
  validateSearch: texts("search", "tool_type", "status", "implementation_type", "callable", "cursor", "open"),
  component: lazyRouteComponent(() => import("../pages/tools"), "Tools"),
});

const tool = createRoute({
  getParentRoute: () => tenant,
  path: "/tools/$tool",
  validateSearch: texts("tab", "version"),
  component: lazyRouteComponent(() => import("../pages/tool"), "ToolPage"),
});

export const toolsRoutes = [tools, tool] as const;
