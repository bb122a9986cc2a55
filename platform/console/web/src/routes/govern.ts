import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../load";
import { tenant, texts } from "./base";

// Who may do what, at what cost, and what was done.

const usage = createRoute({
  getParentRoute: () => tenant,
  path: "/usage",
  validateSearch: texts("from", "to", "by", "show", "open"),
  component: lazyPage(() => import("../pages/govern/usage"), "UsagePage"),
});

const limits = createRoute({
  getParentRoute: () => tenant,
  path: "/limits",
  validateSearch: texts("tab", "cursor", "open"),
  component: lazyPage(() => import("../pages/govern/limits"), "Limits"),
});

const audit = createRoute({
  getParentRoute: () => tenant,
  path: "/audit",
  validateSearch: texts("actor", "action", "object", "outcome", "from", "to", "cursor", "open"),
  component: lazyPage(() => import("../pages/govern/audit"), "Audit"),
});

const access = createRoute({
  getParentRoute: () => tenant,
  path: "/access",
  validateSearch: texts("tab", "show", "open"),
  component: lazyPage(() => import("../pages/govern/access"), "Access"),
});

const settings = createRoute({
  getParentRoute: () => tenant,
  path: "/settings",
  component: lazyPage(() => import("../pages/govern/settings"), "Settings"),
});

const webhooks = createRoute({
  getParentRoute: () => tenant,
  path: "/webhooks",
  validateSearch: texts("show", "cursor", "open", "status"),
  component: lazyPage(() => import("../pages/govern/webhooks"), "Webhooks"),
});

const schedules = createRoute({
  getParentRoute: () => tenant,
  path: "/schedules",
  validateSearch: texts("show", "cursor", "open", "status"),
  component: lazyPage(() => import("../pages/govern/schedules"), "Schedules"),
});

export const governRoutes = [usage, limits, audit, access, settings, webhooks, schedules] as const;
