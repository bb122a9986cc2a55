import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { tenant, texts } from "./base";

// Agents, and graphs.

const agents = createRoute({
  getParentRoute: () => tenant,
  path: "/agents",
  validateSearch: texts("search", "status", "cursor", "open"),
  component: lazyRouteComponent(() => import("../pages/agents"), "Agents"),
});

export const agentsRoutes = [agents] as const;
