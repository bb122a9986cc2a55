import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { tenant, texts } from "./base";

// What waits for a person.

const approvals = createRoute({
  getParentRoute: () => tenant,
  path: "/approvals",
  validateSearch: texts("status", "tool", "cursor", "open"),
  component: lazyRouteComponent(() => import("../pages/approvals"), "Approvals"),
});

export const inboxRoutes = [approvals] as const;
