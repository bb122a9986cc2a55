import { createRoute } from "@tanstack/react-router";
import { lazyPage } from "../load";
import { tenant, texts } from "./base";

// Who is signed in.

const account = createRoute({
  getParentRoute: () => tenant,
  path: "/account",
  validateSearch: texts("cursor"),
  component: lazyPage(() => import("../pages/account"), "Account"),
});

export const accountRoutes = [account] as const;
