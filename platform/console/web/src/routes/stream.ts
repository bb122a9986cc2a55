import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { tenant } from "./base";

// What one sees first.

const overview = createRoute({
  getParentRoute: () => tenant,
  path: "/",
  component: lazyRouteComponent(() => import("../pages/overview"), "OverviewPage"),
});

export const streamRoutes = [overview] as const;
