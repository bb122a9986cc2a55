import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { tenant, texts } from "./base";

// Published pages, sessions, and spaces.

const spaces = createRoute({
  getParentRoute: () => tenant,
  path: "/spaces",
  validateSearch: texts("archived", "cursor", "new"),
  component: lazyRouteComponent(() => import("../pages/share/spaces"), "Spaces"),
});

const space = createRoute({
  getParentRoute: () => tenant,
  path: "/spaces/$space",
  validateSearch: texts("tab"),
  component: lazyRouteComponent(() => import("../pages/share/space"), "SpacePage"),
});

export const shareRoutes = [spaces, space] as const;
