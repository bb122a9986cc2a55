import { QueryClient, type Query } from "@tanstack/react-query";
import { ApiError } from "./api/client";

// A question that failed, and is asked again while it is shown, stays failed until there is an answer: the events of a
// tenant ask again all the time, and what failed would be shown as loading each time.
const failed = new WeakMap<Query, Error>();

export const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      gcTime: 10 * 60_000,
      refetchOnWindowFocus: false, // Events say what changed.
      retry: (count, error) => count < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 500 || error.status === 429),
    },
  },
});

client.getQueryCache().subscribe((event) => {
  const { query } = event;
  if (event.type === "observerRemoved" && query.getObserversCount() === 0) failed.delete(query); // Opened anew, it loads.
  if (event.type !== "updated") return;
  const error = failed.get(query);
  switch (event.action.type) {
    case "error":
      if (query.state.data === undefined && query.state.error) failed.set(query, query.state.error);
      break;
    case "success":
      failed.delete(query);
      break;
    case "fetch":
      if (error && query.state.status === "pending") query.setState({ status: "error", error });
  }
});
