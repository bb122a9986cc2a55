import { createRoute, redirect } from "@tanstack/react-router";
import { lazyPage } from "../load";
import { tenant, texts } from "./base";

// What waits for a person.

const inbox = createRoute({
  getParentRoute: () => tenant,
  path: "/inbox",
  validateSearch: texts("status", "tool", "cursor", "open", "mine", "order", "batch"),
  component: lazyPage(() => import("../pages/inbox/approvals"), "Approvals"),
});

// Requests for approval had a page of their own.
const approvals = createRoute({
  getParentRoute: () => tenant,
  path: "/approvals",
  validateSearch: texts("status", "tool", "cursor", "open"),
  beforeLoad: ({ params, search }) => {
    throw redirect({ to: "/t/$tenant/inbox", params, search, replace: true });
  },
});

const inputs = createRoute({
  getParentRoute: () => tenant,
  path: "/inbox/inputs",
  validateSearch: texts("status", "cursor", "open", "order"),
  component: lazyPage(() => import("../pages/inbox/inputs"), "Inputs"),
});

const calls = createRoute({
  getParentRoute: () => tenant,
  path: "/inbox/calls",
  validateSearch: texts("status", "tool", "cursor", "open", "order"),
  component: lazyPage(() => import("../pages/inbox/calls"), "Calls"),
});

const quarantines = createRoute({
  getParentRoute: () => tenant,
  path: "/inbox/quarantines",
  validateSearch: texts("open"),
  component: lazyPage(() => import("../pages/inbox/quarantines"), "Quarantines"),
});

const grants = createRoute({
  getParentRoute: () => tenant,
  path: "/inbox/grants",
  validateSearch: texts("tool", "cursor", "active", "new", "version", "agent", "requester"),
  component: lazyPage(() => import("../pages/inbox/grants"), "Grants"),
});

export const inboxRoutes = [inbox, approvals, inputs, calls, quarantines, grants] as const;
