import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { ApiError, call } from "../api/client";
import { config } from "../config";
import { Page } from "../ui/page";
import { hello } from "../ui/session";

interface SignedIn {
  tenant: { slug: string };
}

export function Login() {
  const navigate = useNavigate();
  const { to } = useSearch({ from: "/login" });
  const [failed, setFailed] = useState<string>();
  const [busy, setBusy] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const meta = useQuery({ queryKey: ["", "meta"], queryFn: () => call<{ version: string; tokens: boolean }>(undefined, "/v1/meta") });

  const signIn = async (body: { credential?: string; code?: string }) => {
    setBusy(true);
    setFailed(undefined);
    try {
      const { tenant } = await call<SignedIn>(undefined, "/v1/session", { method: "POST", body });
      hello(tenant.slug);
      const home = `/t/${tenant.slug}`;
      const [path = "", query = ""] = (to ?? "").split(/\?(.*)/s);
      const search = Object.fromEntries(new URLSearchParams(query)) as never;
      if (path === home || path.startsWith(home + "/")) await navigate({ to: path as string, search, replace: true });
      else await navigate({ to: "/t/$tenant", params: { tenant: tenant.slug }, replace: true });
    } catch (e) {
      setFailed(e instanceof ApiError ? e.detail : "The sign-in failed.");
      setBusy(false);
      input.current?.focus();
    }
  };

  // A code of toolcrib dev is in the fragment, which no server sees. Where this page is open already, a browser that is
  // given the address changes the fragment alone.
  const used = useRef<string>(undefined);
  useEffect(() => {
    const redeem = () => {
      const code = new URLSearchParams(location.hash.slice(1)).get("k");
      if (!code || used.current === code) return;
      used.current = code;
      history.replaceState(history.state, "", location.pathname + location.search);
      void signIn({ code });
    };
    redeem();
    addEventListener("hashchange", redeem);
    return () => removeEventListener("hashchange", redeem);
  });

  return (
    <main className="alone" id="main">
      <Page title="Sign in" heading={<>Sign in to Toolcrib{config.development && <span className="badge warn">dev</span>}</>}>
        <form className="login" onSubmit={(e) => {
          e.preventDefault();
          void signIn({ credential: input.current!.value.trim() });
        }}>
          <label htmlFor="key">{meta.data?.tokens ? "API key, or token of your identity provider" : "API key"}</label>
          <input ref={input} id="key" name="key" type="password" autoComplete="current-password" placeholder="tck_…" required
            spellCheck={false} aria-invalid={!!failed} aria-describedby={failed ? "failed key-about" : "key-about"} />
          {failed && (
            <p id="failed" className="error" role="alert">
              {failed}
            </p>
          )}
          <button type="submit" className="button primary" disabled={busy}>
            {busy ? "Signing in…" : "Sign in"}
          </button>
          <p id="key-about" className="muted">
            The key is traded for a session of this browser, and not kept in it. The session ends with the key, and after 12
            hours without use.
          </p>
          {config.development && (
            <p className="muted">
              A <code>toolcrib dev</code> of this machine has a key for browsers in its data folder:{" "}
              <code>.toolcrib/console-key</code>.
            </p>
          )}
        </form>
        {meta.data && <p className="muted version">Toolcrib {meta.data.version}</p>}
      </Page>
    </main>
  );
}
