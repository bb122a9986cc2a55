import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { me } from "../api/queries";
import { Page } from "../ui/page";
import { Empty, Failed, Loading } from "../ui/states";

export function Tenants() {
  const known = useQuery(me());
  const [search, setSearch] = useState("");
  const all = known.data?.tenants ?? [];
  const shown = all.filter((t) => (t.slug + " " + (t.name ?? "")).toLowerCase().includes(search.toLowerCase()));
  return (
    <main className="alone" id="main">
      <Page title="Tenants" about="This browser is signed in to these. Each tab stays in its own.">
        {known.isPending ? (
          <Loading rows={3} />
        ) : known.error ? (
          <Failed error={known.error} retry={() => void known.refetch()} what="The list" />
        ) : (
          <>
            {all.length > 8 && (
              <input type="search" aria-label="Filter tenants" placeholder="Filter" value={search} onChange={(e) => setSearch(e.target.value)} />
            )}
            {all.length === 0 && <Empty title="No session" />}
            <ul className="choices">
              {shown.map((t) => (
                <li key={t.slug}>
                  <Link to="/t/$tenant" params={{ tenant: t.slug }}>
                    <strong>{t.name || t.slug}</strong>
                    {t.name && <span className="muted">{t.slug}</span>}
                  </Link>
                </li>
              ))}
            </ul>
          </>
        )}
        <p>
          <Link to="/login" className="button">
            Sign in to another tenant
          </Link>
        </p>
      </Page>
    </main>
  );
}
