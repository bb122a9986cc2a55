import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useParams, useRouterState } from "@tanstack/react-router";
import { Suspense, useEffect, useRef, useState } from "react";
import { me, type Me } from "../api/queries";
import { setPaused, useEvents, useLive } from "../api/stream";
import { config } from "../config";
import { lazyPart } from "../load";
import { readAgain, useOld } from "../query";
import { keysOff } from "./keys";
import { groups, pages } from "./pages";
import { bye } from "./session";
import { Failed } from "./states";
import { applyTheme, theme, type Theme } from "./theme";
import { Waiting } from "./waiting";

const Palette = lazyPart(() => import("./palette").then((m) => ({ default: m.Palette })));
const Help = lazyPart(() => import("./help").then((m) => ({ default: m.Help })));

// Shell is what surrounds every page of a tenant.
export function Shell() {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const who = useQuery(me(tenant));
  const [dialog, setDialog] = useState<"search" | "help">();
  useEvents(tenant);
  useLeaving(tenant);
  useShortcuts(tenant, setDialog);
  const nav = useCurrentInView();
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <div className="side">
        <div className="brand">
          <Link to="/t/$tenant" params={{ tenant }} aria-label="Toolcrib, to the overview">
            <Mark />
            Toolcrib
          </Link>
          {config.development && <span className="badge warn">dev</span>}
        </div>
        <TenantSwitch tenant={tenant} name={who.data?.tenant?.name} many={(who.data?.tenants.length ?? 0) > 1} />
        <button type="button" className="find" onClick={() => setDialog("search")}>
          <span>Search</span>
          <kbd>{/Mac/.test(navigator.platform) ? "⌘K" : "Ctrl K"}</kbd>
        </button>
        <nav aria-label="Pages of the tenant" ref={nav}>
          {groups.map((g) => g.pages.length > 0 && (
            <section key={g.name} className="nav-group">
              <h2 id={`nav-${g.name}`}>{g.name}</h2>
              <ul aria-labelledby={`nav-${g.name}`}>
                {g.pages.map((p) => (
                  <NavItem key={p.path} tenant={tenant} page={p} who={who.data} />
                ))}
              </ul>
            </section>
          ))}
        </nav>
        <Foot tenant={tenant} subject={who.data?.subject} onHelp={() => setDialog("help")} />
      </div>
      <main id="main" tabIndex={-1}>
        <Old />
        {who.error && !who.data ? <Failed error={who.error} what="The tenant" retry={() => void who.refetch()} /> : <Outlet />}
      </main>
      {dialog && (
        <Suspense>
          {dialog === "search" ? (
            <Palette tenant={tenant} onClose={() => setDialog(undefined)} />
          ) : (
            <Help onClose={() => setDialog(undefined)} />
          )}
        </Suspense>
      )}
    </div>
  );
}

// Old is the notice that something on the page could not be read again.
function Old() {
  const [reading, setReading] = useState(false);
  const again = () => {
    setReading(true);
    void readAgain().then(() => setReading(false));
  };
  return (
    <div role="status">
      {useOld() && (
        <p className="notice old">
          Some of what is shown could not be read again, and may be old.
          <button type="button" disabled={reading} onClick={again}>Read it again</button>
        </p>
      )}
    </div>
  );
}

// useLeaving drops what was read of a tenant when the tab leaves it.
function useLeaving(tenant: string): void {
  const client = useQueryClient();
  useEffect(() => () => {
    setTimeout(() => client.removeQueries({ predicate: (q) => q.queryKey[0] === tenant && !q.isActive() })); // When its pages are gone.
  }, [tenant, client]);
}

// useCurrentInView scrolls a navigation that is wider or higher than the screen to the page that is open.
function useCurrentInView() {
  const nav = useRef<HTMLElement>(null);
  const path = useRouterState({ select: (s) => s.resolvedLocation?.pathname });
  useEffect(() => {
    const all = nav.current;
    const link = all?.querySelector('[aria-current="page"]');
    if (!all || !link) return;
    const [a, l] = [all.getBoundingClientRect(), link.getBoundingClientRect()];
    if (l.left < a.left || l.right > a.right) all.scrollLeft += l.left - a.left - (a.width - l.width) / 2;
    if (l.top < a.top || l.bottom > a.bottom) all.scrollTop += l.top - a.top - (a.height - l.height) / 2;
  }, [path]);
  return nav;
}

// NavItem is a page of the navigation, or why the key does not permit it.
function NavItem({ tenant, page: p, who }: { tenant: string; page: (typeof pages)[number]; who: Me | undefined }) {
  const feature = who?.features.find((f) => f.name === p.feature);
  return (
    <li>
      {feature && !feature.available ? (
        <span className="nav-off" title={feature.because}>
          {p.name}
          <span className="unseen">: {feature.because}</span>
        </span>
      ) : (
        <Link to={p.to} params={{ tenant }} activeProps={{ "aria-current": "page" }} activeOptions={{ includeSearch: false, exact: p.path === "" }}>
          {p.name}
          {p.path === "inbox" && who && <Waiting tenant={tenant} who={who} />}
        </Link>
      )}
    </li>
  );
}

function Mark() {
  return (
    <svg viewBox="0 0 32 32" className="mark" aria-hidden="true">
      <rect width="32" height="32" rx="7" />
      <path d="M7 9h18M7 23h18M7 16h18" />
      <circle cx="12" cy="9" r="3" />
      <circle cx="20" cy="16" r="3" />
      <circle cx="14" cy="23" r="3" />
    </svg>
  );
}

function TenantSwitch({ tenant, name, many }: { tenant: string; name?: string | undefined; many: boolean }) {
  return (
    <Link to="/t" className="tenant" aria-label={`Tenant ${name || tenant}${many ? ", switch" : ", add another"}`}>
      <span className="tenant-name">{name || tenant}</span>
      <span aria-hidden="true">⇅</span>
    </Link>
  );
}

function Foot({ tenant, subject, onHelp }: { tenant: string; subject?: string | undefined; onHelp: () => void }) {
  const live = useLive();
  const navigate = useNavigate();
  const [look, setLook] = useState<Theme>(theme);
  return (
    <div className="foot">
      <button type="button" className="quiet live" aria-pressed={live.paused} onClick={() => setPaused(!live.paused)}
        title={live.paused ? "Only what you open is read" : "What you see follows what happens"}>
        <span className={`status ${live.paused ? "wait" : live.connected ? "live" : ""}`}>{live.paused ? (live.news > 0 ? `Paused, ${live.news} new` : "Paused") : "Live"}</span>
      </button>
      <label className="quiet look">
        <span className="unseen">Appearance</span>
        <select value={look} onChange={(e) => {
          const t = e.target.value as Theme;
          applyTheme(t);
          setLook(t);
        }}>
          <option value="system">System</option>
          <option value="light">Light</option>
          <option value="dark">Dark</option>
        </select>
      </label>
      <button type="button" className="quiet" onClick={onHelp} aria-label="Help and shortcuts">
        ?
      </button>
      <Link to="/t/$tenant/account" params={{ tenant }} className="quiet me" title={subject}>
        Account
      </Link>
      <button type="button" className="quiet out" onClick={async () => {
        await bye();
        await navigate({ to: "/login" });
        location.reload();
      }}>
        Sign out
      </button>
    </div>
  );
}

// useShortcuts: g and a letter goes to a page, Ctrl or ⌘ and K searches, ? helps.
function useShortcuts(tenant: string, open: (d: "search" | "help") => void): void {
  const navigate = useNavigate();
  useEffect(() => {
    let going = 0;
    const onKey = (e: KeyboardEvent) => {
      if ((e.metaKey || e.ctrlKey) && e.key.toLowerCase() === "k") {
        e.preventDefault();
        open("search");
        return;
      }
      if (keysOff(e)) return;
      const to = going > Date.now() - 1500 && pages.find((p) => p.key === e.key);
      going = e.key === "g" ? Date.now() : 0;
      if (to) {
        e.preventDefault();
        void navigate({ to: to.to, params: { tenant } });
      } else if (e.key === "?") open("help");
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [tenant, navigate, open]);
}
