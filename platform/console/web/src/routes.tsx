import {
  createRootRoute, createRoute, createRouter, lazyRouteComponent, Outlet, redirect,
} from "@tanstack/react-router";
import { config } from "./config";
import { me } from "./api/queries";
import { client } from "./query";
import { LiveRegion } from "./ui/live";
import { Shell } from "./ui/shell";
import { Absent, Failed, Loading } from "./ui/states";
import { Page } from "./ui/page";

// text returns a search parameter that is a text, and nothing else.
const text = (v: unknown): string | undefined => (typeof v === "string" && v !== "" ? v : typeof v === "number" ? String(v) : undefined);
const texts =
  <K extends string>(...names: K[]) =>
  (search: Record<string, unknown>): { [N in K]?: string } => {
    const out: { [N in K]?: string } = {};
    for (const n of names) {
      const v = text(search[n]);
      if (v !== undefined) out[n] = v;
    }
    return out;
  };

const root = createRootRoute({
  component: () => (
    <>
      <Outlet />
      <LiveRegion />
    </>
  ),
  notFoundComponent: () => (
    <main className="alone">
      <Page title="Not found">
        <Absent what="The page" />
        <p>
          <a href={config.prefix + "/"}>To the start</a>
        </p>
      </Page>
    </main>
  ),
  errorComponent: ({ error, reset }) => (
    <main className="alone">
      <Failed error={error} retry={reset} />
    </main>
  ),
});

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: async () => {
    const known = await client.ensureQueryData(me()).catch(() => undefined);
    const [only] = known?.tenants ?? [];
    if (!only) throw redirect({ to: "/login" });
    if (known!.tenants.length > 1) throw redirect({ to: "/t" });
    throw redirect({ to: "/t/$tenant/tools", params: { tenant: only.slug } });
  },
});

const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  validateSearch: texts("to"),
  component: lazyRouteComponent(() => import("./pages/login"), "Login"),
});

const tenants = createRoute({
  getParentRoute: () => root,
  path: "/t",
  component: lazyRouteComponent(() => import("./pages/tenants"), "Tenants"),
});

const tenant = createRoute({
  getParentRoute: () => root,
  path: "/t/$tenant",
  component: Shell,
  notFoundComponent: () => (
    <Page title="Not found">
      <Absent what="The page" />
    </Page>
  ),
  errorComponent: ({ error, reset }) => <Failed error={error} retry={reset} />,
});

const tenantHome = createRoute({
  getParentRoute: () => tenant,
  path: "/",
  beforeLoad: ({ params }) => {
    throw redirect({ to: "/t/$tenant/tools", params: { tenant: params.tenant } });
  },
});

const tools = createRoute({
  getParentRoute: () => tenant,
  path: "/tools",
  validateSearch: texts("search", "tool_type", "status", "implementation_type", "callable", "cursor", "open"),
  component: lazyRouteComponent(() => import("./pages/tools"), "Tools"),
});

const tool = createRoute({
  getParentRoute: () => tenant,
  path: "/tools/$tool",
  validateSearch: texts("tab", "version"),
  component: lazyRouteComponent(() => import("./pages/tool"), "ToolPage"),
});

const runs = createRoute({
  getParentRoute: () => tenant,
  path: "/runs",
  validateSearch: texts("status", "kind", "agent", "cursor"),
  component: lazyRouteComponent(() => import("./pages/runs"), "Runs"),
});

const run = createRoute({
  getParentRoute: () => tenant,
  path: "/runs/$run",
  validateSearch: texts("tab", "call"),
  component: lazyRouteComponent(() => import("./pages/run"), "RunPage"),
});

const approvals = createRoute({
  getParentRoute: () => tenant,
  path: "/approvals",
  validateSearch: texts("status", "tool", "cursor", "open"),
  component: lazyRouteComponent(() => import("./pages/approvals"), "Approvals"),
});

const agents = createRoute({
  getParentRoute: () => tenant,
  path: "/agents",
  validateSearch: texts("search", "status", "cursor", "open"),
  component: lazyRouteComponent(() => import("./pages/agents"), "Agents"),
});

export const router = createRouter({
  routeTree: root.addChildren([
    home, login, tenants, tenant.addChildren([tenantHome, tools, tool, runs, run, approvals, agents]),
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
