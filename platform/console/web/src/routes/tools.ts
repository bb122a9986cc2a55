import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../load";
import { tenant, texts } from "./base";

// The registry: tools, their versions, and calls of them.

const tools = createRoute({
  getParentRoute: () => tenant,
  path: "/tools",
  validateSearch: texts("search", "tool_type", "status", "implementation_type", "callable", "category", "egress_class", "risk", "archived", "switched_off", "cursor", "open"),
  component: lazyPage(() => import("../pages/tools"), "Tools"),
});

const tool = createRoute({
  getParentRoute: () => tenant,
  path: "/tools/$tool",
  validateSearch: texts("tab", "version", "mode", "agent", "from", "to", "users", "replay", "as", "run", "status", "cursor", "launch"),
  component: lazyPage(() => import("../pages/tool"), "ToolPage"),
});

const newTool = createRoute({
  getParentRoute: () => tenant,
  path: "/tools/new",
  validateSearch: texts("type"),
  component: lazyPage(() => import("../pages/tools/new"), "NewTool"),
});

const importTools = createRoute({
  getParentRoute: () => tenant,
  path: "/tools/import",
  component: lazyPage(() => import("../pages/tools/import"), "ImportTools"),
});

const editTool = createRoute({
  getParentRoute: () => tenant,
  path: "/tools/$tool/edit",
  component: lazyPage(() => import("../pages/tools/edit"), "EditTool"),
});

const profiles = createRoute({
  getParentRoute: () => tenant,
  path: "/profiles",
  validateSearch: texts("cursor", "open", "new"),
  component: lazyPage(() => import("../pages/tools/profiles"), "Profiles"),
});

export const toolsRoutes = [tools, newTool, importTools, tool, editTool, profiles] as const;
