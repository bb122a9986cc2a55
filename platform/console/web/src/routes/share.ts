import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../load";
import { tenant, texts } from "./base";

// Published pages, sessions, and spaces.

const spaces = createRoute({
  getParentRoute: () => tenant,
  path: "/spaces",
  validateSearch: texts("archived", "cursor", "new"),
  component: lazyPage(() => import("../pages/share/spaces"), "Spaces"),
});

const space = createRoute({
  getParentRoute: () => tenant,
  path: "/spaces/$space",
  validateSearch: texts("tab"),
  component: lazyPage(() => import("../pages/share/space"), "SpacePage"),
});

const session = createRoute({
  getParentRoute: () => tenant,
  path: "/sessions/$session",
  validateSearch: texts("cursor", "open"),
  component: lazyPage(() => import("../pages/share/session"), "SessionPage"),
});

const published = createRoute({
  getParentRoute: () => tenant,
  path: "/published",
  validateSearch: texts("cursor", "open", "new", "run"),
  component: lazyPage(() => import("../pages/share/published"), "Published"),
});

export const shareRoutes = [spaces, space, session, published] as const;
