import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { tenant, texts } from "./base";

// Who may do what, at what cost, and what was done.

const usage = createRoute({
  getParentRoute: () => tenant,
  path: "/usage",
  validateSearch: texts("from", "to", "by", "show", "open"),
  component: lazyRouteComponent(() => import("../pages/govern/usage"), "UsagePage"),
});

const limits = createRoute({
  getParentRoute: () => tenant,
  path: "/limits",
  validateSearch: texts("tab", "cursor", "open"),
  component: lazyRouteComponent(() => import("../pages/govern/limits"), "Limits"),
});

const audit = createRoute({
  getParentRoute: () => tenant,
  path: "/audit",
  validateSearch: texts("actor", "action", "object", "outcome", "from", "to", "cursor", "open"),
  component: lazyRouteComponent(() => import("../pages/govern/audit"), "Audit"),
});

const access = createRoute({
  getParentRoute: () => tenant,
  path: "/access",
  validateSearch: texts("tab", "show", "open"),
  component: lazyRouteComponent(() => import("../pages/govern/access"), "Access"),
});

const settings = createRoute({
  getParentRoute: () => tenant,
  path: "/settings",
  component: lazyRouteComponent(() => import("../pages/govern/settings"), "Settings"),
});

const webhooks = createRoute({
  getParentRoute: () => tenant,
  path: "/webhooks",
  validateSearch: texts("show", "cursor", "open", "status"),
  component: lazyRouteComponent(() => import("../pages/govern/webhooks"), "Webhooks"),
});

const schedules = createRoute({
  getParentRoute: () => tenant,
  path: "/schedules",
  validateSearch: texts("show", "cursor", "open", "status"),
  component: lazyRouteComponent(() => import("../pages/govern/schedules"), "Schedules"),
});

export const governRoutes = [usage, limits, audit, access, settings, webhooks, schedules] as const;
