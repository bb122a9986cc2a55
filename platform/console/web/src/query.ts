import { QueryClient } from "@tanstack/react-query";
import { ApiError } from "./api/client";

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
