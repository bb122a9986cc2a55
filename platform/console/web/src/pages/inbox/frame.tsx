import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { shown, useCounts, type Count } from "../../api/inbox";
import { may, me } from "../../api/queries";
import { Page } from "../../ui/page";

const exact = { exact: true, includeSearch: false } as const;

// Inbox is the frame of the parts of the inbox, with how much waits in each.
export function Inbox({ about, actions, cli, api, children }: {
  about: ReactNode;
  actions?: ReactNode;
  cli: string;
  api: string;
  children: ReactNode;
}) {
  const { tenant } = useParams({ from: "/t/$tenant" });
  const who = useQuery(me(tenant)).data;
  const counts = useCounts(tenant, who);
  return (
    <Page title="Inbox" about={about} actions={actions} cli={cli} api={api}>
      <nav className="tabs inbox-parts" aria-label="Parts of the inbox">
        {may(who, "approvals.read") && <Link to="/t/$tenant/inbox" params={{ tenant }} activeOptions={exact}>Approvals <Counted of={counts.approvals} /></Link>}
        {may(who, "results.submit") && (
          <>
            <Link to="/t/$tenant/inbox/inputs" params={{ tenant }} activeOptions={exact}>Input requests <Counted of={counts.inputs} /></Link>
            <Link to="/t/$tenant/inbox/calls" params={{ tenant }} activeOptions={exact}>Pending calls <Counted of={counts.calls} /></Link>
          </>
        )}
        {may(who, "tools.read") && (
          <Link to="/t/$tenant/inbox/quarantines" params={{ tenant }} activeOptions={exact}>Quarantines <Counted of={counts.quarantines} /></Link>
        )}
        {may(who, "approvals.read") && <Link to="/t/$tenant/inbox/grants" params={{ tenant }} activeOptions={exact}>Standing grants</Link>}
      </nav>
      {children}
    </Page>
  );
}

function Counted({ of }: { of: Count }) {
  if (of.n === 0) return null;
  return (
    <span className="count">
      {shown(of)}
      <span className="unseen"> waiting</span>
    </span>
  );
}

// Toggle is a filter that is on or off.
export function Toggle({ on, onChange, children }: { on: boolean; onChange: (on: boolean) => void; children: ReactNode }) {
  return (
    <button type="button" className={on ? "button toggle on" : "button toggle"} aria-pressed={on} onClick={() => onChange(!on)}>
      {children}
    </button>
  );
}

export const orders = [["", "Newest first"], ["oldest", "Oldest first"]] as const;
