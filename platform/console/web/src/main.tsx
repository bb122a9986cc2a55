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
import { onBye } from "./ui/session";
import "./styles/index.css";

applyTheme();

// Where a session has ended, nothing of it stays.
onSignedOut(() => {
  client.clear();
  const here = router.state.location;
  if (here.pathname !== "/login") void router.navigate({ to: "/login", search: { to: here.pathname }, replace: true });
});
onBye(() => {
  client.clear();
  location.replace(config.prefix + "/login");
});

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <CSPProvider nonce={nonce}>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
