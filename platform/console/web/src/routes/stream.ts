import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../load";
import { tenant } from "./base";

// What one sees first.

const overview = createRoute({
  getParentRoute: () => tenant,
  path: "/",
  component: lazyPage(() => import("../pages/overview"), "OverviewPage"),
});

export const streamRoutes = [overview] as const;
