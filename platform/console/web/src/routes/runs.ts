import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../load";
import { tenant, texts } from "./base";

// What agents and people have run.

const runs = createRoute({
  getParentRoute: () => tenant,
  path: "/runs",
  validateSearch: texts("status", "kind", "agent", "mode", "subject", "paused", "since", "until", "cursor"),
  component: lazyPage(() => import("../pages/runs"), "Runs"),
});

const newRun = createRoute({
  getParentRoute: () => tenant,
  path: "/runs/new",
  validateSearch: texts("agent", "version", "mode", "from"),
  component: lazyPage(() => import("../pages/runs/new"), "NewRun"),
});

const run = createRoute({
  getParentRoute: () => tenant,
  path: "/runs/$run",
  validateSearch: texts("tab", "call", "from", "scale", "fork", "cursor"),
  component: lazyPage(() => import("../pages/run"), "RunPage"),
});

const calls = createRoute({
  getParentRoute: () => tenant,
  path: "/calls",
  validateSearch: texts("status", "kind", "tool", "agent", "since", "until", "cursor", "open"),
  component: lazyPage(() => import("../pages/runs/calls"), "CallsPage"),
});

export const runsRoutes = [runs, newRun, run, calls] as const;
