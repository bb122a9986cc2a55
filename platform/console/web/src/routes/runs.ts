import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { tenant, texts } from "./base";

// What agents and people have run.

const runs = createRoute({
  getParentRoute: () => tenant,
  path: "/runs",
  validateSearch: texts("status", "kind", "agent", "cursor"),
  component: lazyRouteComponent(() => import("../pages/runs"), "Runs"),
});

const run = createRoute({
  getParentRoute: () => tenant,
  path: "/runs/$run",
  validateSearch: texts("tab", "call"),
  component: lazyRouteComponent(() => import("../pages/run"), "RunPage"),
});

export const runsRoutes = [runs, run] as const;
