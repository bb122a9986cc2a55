import { useRouterState } from "@tanstack/react-router";
import { useEffect, useRef, type ReactNode } from "react";
import { visited } from "./recent";
import { words } from "./shellwords";
import { Command } from "./states";

// tabOptions are those of links between parts of a page, which differ in the search alone.
export const tabOptions = { exact: false, includeSearch: true, explicitUndefined: true } as const;

// Page is the frame of every page: its title, which gets the focus when the page opens, and how the same
// is asked from a terminal.
export function Page({ title, about, actions, back, cli, api, children, heading }: {
  title: string;
  heading?: ReactNode;
  about?: ReactNode;
  actions?: ReactNode;
  back?: ReactNode;
  cli?: string;
  api?: string;
  children: ReactNode;
}) {
  const h1 = useRef<HTMLHeadingElement>(null);
  const path = useRouterState({ select: (s) => s.location.pathname });
  const href = useRouterState({ select: (s) => s.location.href });
  useEffect(() => {
    document.title = `${title} · Toolcrib`;
    const [, tenant, below] = /^\/t\/([^/?]+)\/(.+)$/.exec(href) ?? [];
    if (tenant && below?.includes("/")) visited(decodeURIComponent(tenant), { path: below, title });
  }, [title, href]);
  useEffect(() => {
    // A dialog that was opened meanwhile keeps the focus.
    if (!document.querySelector("[role=dialog], [role=alertdialog]")) h1.current?.focus({ preventScroll: true });
  }, [path]);
  return (
    <>
      <header className="page-head">
        {back}
        <div className="page-title">
          <h1 ref={h1} tabIndex={-1}>
            {heading ?? title}
          </h1>
          {actions && <div className="actions">{actions}</div>}
        </div>
        {about && <p className="about">{about}</p>}
      </header>
      {children}
      {(cli || api) && (
        <details className="hints">
          <summary>The same from a terminal</summary>
          {cli && <Command text={cli} />}
          {api && <Command text={`curl -H "Authorization: Bearer $TOOLCRIB_KEY" ${words(location.origin + api)}`} />}
        </details>
      )}
    </>
  );
}
