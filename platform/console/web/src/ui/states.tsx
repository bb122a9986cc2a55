import { useIsFetching } from "@tanstack/react-query";
import { useEffect, useState, type ReactNode } from "react";
import { ApiError } from "../api/client";
import { PartError, Unloaded } from "../load";
import { Copy } from "./parts";

// The four states of what is shown: loading, empty, failed, absent.

// Loading shows nothing for a moment: most answers are there before one could read it.
export function Loading({ rows = 8 }: { rows?: number }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150);
    return () => clearTimeout(timer);
  }, []);
  if (!late) return <div className="loading" aria-busy="true" />;
  return (
    <div className="loading" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, i) => (
        <span key={i} className="bone" data-width={i % 3} />
      ))}
    </div>
  );
}

export function Empty({ title, children, command }: { title: string; children?: ReactNode; command?: string }) {
  return (
    <div className="state">
      <p className="state-title">{title}</p>
      {children && <p>{children}</p>}
      {command && <Command text={command} />}
    </div>
  );
}

// Command is a line for a terminal.
export function Command({ text }: { text: string }) {
  return (
    <p className="command">
      <code>{text}</code>
      <Copy text={text} label="Copy the command" />
    </p>
  );
}

// Failed is an error with what one needs to ask about it. What is not there and what is not permitted look alike.
export function Failed({ error, retry, what = "This" }: { error: unknown; retry?: () => void; what?: string }) {
  if (error instanceof PartError) return <Unloaded error={error} />;
  const e = error instanceof ApiError ? error : new ApiError("internal", 0, "The page has a defect.");
  if (e.absent) return <Absent what={what} permissions={e.permissions} />;
  return (
    <div className="state" role="alert">
      <p className="state-title">{e.detail || "The request failed."}</p>
      <p>
        <span className="badge bad">{e.kind}</span>{" "}
        {e.trace && (
          <>
            request <code>{e.trace}</code> <Copy text={e.trace} label="Copy the request id" />
          </>
        )}
      </p>
      {retry && (
        <p>
          <Again retry={retry} />
        </p>
      )}
    </div>
  );
}

// Again says that it is asked again: what failed stays until there is an answer.
function Again({ retry }: { retry: () => void }) {
  const [asked, setAsked] = useState(false);
  const asks = useIsFetching() > 0;
  useEffect(() => {
    if (!asks) setAsked(false);
  }, [asks]);
  return (
    <button type="button" className="button" aria-busy={asked} onClick={() => {
      setAsked(true);
      retry();
    }}>
      {asked ? "Trying again…" : "Try again"}
    </button>
  );
}

export function Absent({ what = "This", permissions = [], children }: { what?: string; permissions?: string[]; children?: ReactNode }) {
  return (
    <div className="state">
      <p className="state-title">{what} is not here</p>
      <p>
        It does not exist, or your key may not see it
        {permissions.length > 0 && (
          <>
            : that takes the permission <code>{permissions.join(" or ")}</code>
          </>
        )}
        .
      </p>
      {children}
    </div>
  );
}
