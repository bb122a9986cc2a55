import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { tenant, texts } from "./base";

// Who is signed in.

const account = createRoute({
  getParentRoute: () => tenant,
  path: "/account",
  validateSearch: texts("cursor"),
  component: lazyRouteComponent(() => import("../pages/account"), "Account"),
});

export const accountRoutes = [account] as const;
