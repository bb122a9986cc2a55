import { createRoute, createRouter, redirect } from "@tanstack/react-router";
import { me } from "./api/queries";
import { config } from "./config";
import { lazyPage } from "./load";
import { client } from "./query";
import { accountRoutes } from "./routes/account";
import { agentsRoutes } from "./routes/agents";
import { root, tenant, texts } from "./routes/base";
import { connectRoutes } from "./routes/connect";
import { governRoutes } from "./routes/govern";
import { inboxRoutes } from "./routes/inbox";
import { runsRoutes } from "./routes/runs";
import { shareRoutes } from "./routes/share";
import { streamRoutes } from "./routes/stream";
import { toolsRoutes } from "./routes/tools";
import { Loading } from "./ui/states";

// Each area has its routes in a file of routes/.

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: async () => {
    const known = await client.ensureQueryData(me()).catch(() => undefined);
    const [only] = known?.tenants ?? [];
    if (!only) throw redirect({ to: "/login" });
    if (known!.tenants.length > 1) throw redirect({ to: "/t" });
    throw redirect({ to: "/t/$tenant", params: { tenant: only.slug } });
  },
});

const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  validateSearch: texts("to"),
  component: lazyPage(() => import("./pages/login"), "Login"),
});

const tenants = createRoute({
  getParentRoute: () => root,
  path: "/t",
  component: lazyPage(() => import("./pages/tenants"), "Tenants"),
});

export const router = createRouter({
  routeTree: root.addChildren([
    home, login, tenants, tenant.addChildren([
      ...streamRoutes, ...accountRoutes, ...toolsRoutes, ...agentsRoutes, ...runsRoutes, ...inboxRoutes, ...connectRoutes, ...governRoutes, ...shareRoutes,
    ]),
  ]),
  basepath: config.prefix || "/",
  defaultPreload: "intent",
  defaultPendingComponent: () => <Loading />,
  scrollRestoration: true,
  // Search parameters are texts: a number in them is one that was searched for.
  parseSearch: (s) => Object.fromEntries(new URLSearchParams(s)),
  stringifySearch: (s) => {
    const params = new URLSearchParams();
    for (const [n, v] of Object.entries(s)) if (v !== undefined && v !== "") params.set(n, String(v));
    const out = params.toString();
    return out ? "?" + out : "";
  },
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
