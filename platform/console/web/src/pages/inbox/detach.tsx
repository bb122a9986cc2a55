import { useQueryClient } from "@tanstack/react-query";
import { call } from "../../api/client";
import type { Detached } from "../../api/inbox";
import { say } from "../../ui/live";
import { Ask } from "./ask";

// Detach detaches a server. While published tools run on it, that has to be asked for.
export function Detach({ tenant, slug, onClose, onDone }: { tenant: string; slug: string; onClose: () => void; onDone: () => void }) {
  const client = useQueryClient();
  return (
    <Ask title={`Detach ${slug}?`} action="Detach" danger onClose={onClose}
      about="The imported tools stay, but no longer run. While some of them are published the server refuses, unless they are disabled too."
      run={(given) =>
        call<Detached>(tenant, `/v1/mcp/servers/${encodeURIComponent(slug)}/detach`, {
          method: "POST", body: {}, query: { force: given.get("force") === "on" || undefined },
        })}
      onDone={(done) => {
        say(done.disabled.length ? `Detached. Disabled: ${done.disabled.join(", ")}.` : "Detached.");
        void client.invalidateQueries({ queryKey: [tenant, "mcp-servers"] });
        void client.invalidateQueries({ queryKey: [tenant, "tools"] });
        onDone();
      }}>
      <label className="check"><input type="checkbox" name="force" /> Disable the published tools that run on it</label>
    </Ask>
  );
}
