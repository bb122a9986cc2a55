import { useQuery } from "@tanstack/react-query";
import { Suspense } from "react";
import { json, toolForm } from "../api/queries";
import type { Call } from "../api/runs";
import type { Result } from "../form/output";
import { lazyPart } from "../load";

const AppView = lazyPart(() => import("./app"));

// AppOfCall offers the app of a call's tool, where there is one and the call has a result that is whole.
export function AppOfCall({ tenant, of: c }: { tenant: string; of: Call }) {
  const asks = c.implementation_type === "mcp" && c.output !== undefined && c.version !== undefined;
  const found = useQuery({ ...toolForm(tenant, c.tool, c.version), enabled: asks, retry: false });
  if (!asks || !found.data?.app) return null;
  return (
    <Suspense fallback={null}>
      <AppView tenant={tenant} of={{ tool: c.tool, version: c.version, input: json(c.input), folded: true }} result={c.output as unknown as Result}>{null}</AppView>
    </Suspense>
  );
}
