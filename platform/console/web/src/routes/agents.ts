import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../load";
import { tenant, texts } from "./base";

// Agents, and graphs.

const agents = createRoute({
  getParentRoute: () => tenant,
  path: "/agents",
  validateSearch: texts("search", "status", "cursor", "open"),
  component: lazyPage(() => import("../pages/agents/list"), "Agents"),
});

const editing = texts("tab", "search", "bucket", "type", "shown", "from", "to", "cursor");

const newAgent = createRoute({
  getParentRoute: () => tenant,
  path: "/agents/new",
  validateSearch: editing,
  component: lazyPage(() => import("../pages/agents/agent"), "NewAgent"),
});

const agent = createRoute({
  getParentRoute: () => tenant,
  path: "/agents/$agent",
  validateSearch: editing,
  component: lazyPage(() => import("../pages/agents/agent"), "AgentPage"),
});

const drawn = texts("node", "show", "version");

const newGraph = createRoute({
  getParentRoute: () => tenant,
  path: "/graphs/new",
  validateSearch: drawn,
  component: lazyPage(() => import("../graph/edit"), "NewGraph"),
});

const editGraph = createRoute({
  getParentRoute: () => tenant,
  path: "/tools/$tool/graph/edit",
  validateSearch: drawn,
  component: lazyPage(() => import("../graph/edit"), "EditGraph"),
});

export const agentsRoutes = [agents, newAgent, agent, newGraph, editGraph] as const;
