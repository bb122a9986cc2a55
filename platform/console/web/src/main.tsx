import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { onSignedOut } from "./api/client";
import { config, nonce } from "./config";
import { client } from "./query";
import { router } from "./routes";
import { applyTheme } from "./ui/theme";
import { forget, onWord } from "./ui/session";
import "./styles/index.css";

applyTheme();

// Where a session has ended, nothing of it stays.
onSignedOut(() => {
  forget();
  const here = router.state.location;
  if (here.pathname !== "/login") void router.navigate({ to: "/login", search: { to: here.pathname + here.searchStr }, replace: true });
});
onWord(
  () => {
    forget();
    location.replace(config.prefix + "/login");
  },
  // What is shown of the tenant was read with the session before.
  (tenant) => {
    if (`${router.state.location.pathname}/`.startsWith(`/t/${tenant}/`)) location.reload();
  },
);

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <CSPProvider nonce={nonce}>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
