import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { tenant, texts } from "./base";

// What agents and people have run.

const runs = createRoute({
  getParentRoute: () => tenant,
  path: "/runs",
  validateSearch: texts("status", "kind", "agent", "mode", "subject", "paused", "since", "until", "cursor"),
  component: lazyRouteComponent(() => import("../pages/runs"), "Runs"),
});

const newRun = createRoute({
  getParentRoute: () => tenant,
  path: "/runs/new",
  validateSearch: texts("agent", "version", "mode", "from"),
  component: lazyRouteComponent(() => import("../pages/runs/new"), "NewRun"),
});

const run = createRoute({
  getParentRoute: () => tenant,
  path: "/runs/$run",
  validateSearch: texts("tab", "call", "from", "scale", "fork", "cursor"),
  component: lazyRouteComponent(() => import("../pages/run"), "RunPage"),
});

const calls = createRoute({
  getParentRoute: () => tenant,
  path: "/calls",
  validateSearch: texts("status", "kind", "tool", "agent", "since", "until", "cursor", "open"),
  component: lazyRouteComponent(() => import("../pages/runs/calls"), "CallsPage"),
});

export const runsRoutes = [runs, newRun, run, calls] as const;
