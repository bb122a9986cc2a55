import { QueryClient, type Query } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { ApiError } from "./api/client";

// passing reports whether a failure is one of the network or the server, which ends by itself.
const passing = (error: unknown): boolean => error instanceof ApiError && (error.status === 0 || error.status >= 500 || error.status === 429);

// A question that failed, and is asked again while it is shown, stays failed until there is an answer: the events of a
// tenant ask again all the time, and what failed would be shown as loading each time.
const failed = new WeakMap<Query, Error>();

// What was there before a passing failure stays, with what is typed beside it: it is old until it has been read again.
const old = new Set<Query>();
const listeners = new Set<() => void>();

function mark(query: Query, is: boolean): void {
  if (old.has(query) === is) return;
  if (is) old.add(query);
  else old.delete(query);
  listeners.forEach((notify) => notify());
}

// useOld reports whether something that is shown could not be read again.
export const useOld = (): boolean =>
  useSyncExternalStore(
    (notify) => {
      listeners.add(notify);
      return () => listeners.delete(notify);
    },
    () => old.size > 0,
  );

// readAgain reads again what could not be read again before.
export const readAgain = (): Promise<unknown> => Promise.allSettled([...old].map((query) => query.fetch()));

export const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      gcTime: 10 * 60_000,
      refetchOnWindowFocus: false, // Events say what changed.
      retry: (count, error) => count < 2 && passing(error),
    },
  },
});

client.getQueryCache().subscribe((event) => {
  const { query } = event;
  if (event.type === "removed" || (event.type === "observerRemoved" && query.getObserversCount() === 0)) {
    failed.delete(query); // Opened anew, it loads.
    mark(query, false);
  }
  if (event.type !== "updated") return;
  const error = failed.get(query);
  switch (event.action.type) {
    case "error":
      if (!query.state.error) break;
      if (query.state.data === undefined) failed.set(query, query.state.error);
      else if (passing(query.state.error)) {
        mark(query, query.getObserversCount() > 0);
        query.setState({ status: "success", error: null, isInvalidated: true });
      }
      break;
    case "success":
      failed.delete(query);
      mark(query, false);
      break;
    case "fetch":
      if (error && query.state.status === "pending") query.setState({ status: "error", error });
  }
});
