import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { fileContent, runFiles, type StoredFile } from "../../api/runs";
import { Pager, Rows } from "../../ui/list";
import { Badge, Time } from "../../ui/parts";
import { words } from "../../ui/shellwords";
import { Empty, Failed, Loading } from "../../ui/states";
import { bytes } from "./call";
import { why } from "./controls";

// Files are those of a run and of the runs that it made.
export function Files({ tenant, run }: { tenant: string; run: string }) {
  const [cursor, setCursor] = useState<string>();
  const found = useQuery(runFiles(tenant, run, cursor));
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} what="The list of files" />;
  if (found.data.items.length === 0) {
    return <Empty title="The run has no file" command={words("toolcrib", "files", "upload", "plan.png", "--run", run)}>What people send with their answers, and what they draw, is here.</Empty>;
  }
  return (
    <>
      <Rows label="Files" rows={found.data.items} keyOf={(f) => f.id}
        columns={[
          { name: "File", show: (f) => <Download tenant={tenant} of={f} /> },
          { name: "Type", from: "medium", show: (f) => <Badge>{f.media_type}</Badge> },
          { name: "Size", end: true, show: (f) => bytes(f.size) },
          { name: "Sent", end: true, show: (f) => <Time at={f.created_at} /> },
        ]} />
      <Pager count={found.data.items.length} first={!cursor} next={found.data.next} onFirst={() => setCursor(undefined)} onNext={setCursor} />
    </>
  );
}

// Download saves a file. It is never shown as a page of this address.
function Download({ tenant, of: f }: { tenant: string; of: StoredFile }) {
  const get = useMutation({
    mutationFn: () => fileContent(tenant, f.id),
    onSuccess: (content) => {
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([content], { type: "application/octet-stream" }));
      link.download = f.name;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
    },
  });
  return (
    <span className="row-link">
      <button type="button" className="quiet" disabled={get.isPending} onClick={() => get.mutate()} aria-label={`Download ${f.name}`}>↓</button>
      <span className="line">{f.name}</span>
      {get.error && <span className="error" role="alert">{why(get.error)}</span>}
    </span>
  );
}
