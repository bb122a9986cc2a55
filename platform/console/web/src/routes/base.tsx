import { createRootRoute, createRoute, Link, Outlet } from "@tanstack/react-router";
import { config } from "../config";
import { LiveRegion } from "../ui/live";
import { Page } from "../ui/page";
import { Shell } from "../ui/shell";
import { Absent, Failed } from "../ui/states";

// The routes that all others are under, and what reads their search parameters.

// text returns a search parameter that is a text, and nothing else.
const text = (v: unknown): string | undefined => (typeof v === "string" && v !== "" ? v : typeof v === "number" ? String(v) : undefined);
export const texts =
  <K extends string>(...names: K[]) =>
  (search: Record<string, unknown>): { [N in K]?: string } => {
    const out: { [N in K]?: string } = {};
    for (const n of names) {
      const v = text(search[n]);
      if (v !== undefined) out[n] = v;
    }
    return out;
  };

export const root = createRootRoute({
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

export const tenant = createRoute({
  getParentRoute: () => root,
  path: "/t/$tenant",
  component: Shell,
  notFoundComponent: () => (
    <Page title="Not found">
      <Absent what="The page">
        <Link from="/t/$tenant" to="/t/$tenant" className="button">To the overview</Link>
      </Absent>
    </Page>
  ),
  errorComponent: ({ error, reset }) => <Failed error={error} retry={reset} />,
});
