import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { may, me } from "../api/queries";
import { taxonomy } from "../api/tools";
import { Badge } from "./parts";

// useTypeLabel names types of tools as the taxonomy does.
export function useTypeLabel(): (type: string) => string {
  const { tenant = "" } = useParams({ strict: false });
  const who = useQuery({ ...me(tenant), enabled: tenant !== "" });
  const terms = useQuery({ ...taxonomy(tenant), enabled: tenant !== "" && may(who.data, "tools.read") });
  return (type) => terms.data?.subtypes.find((t) => t.name === type)?.label ?? type.replaceAll("_", " ");
}

// Type is how a tool is implemented.
export function Type({ of }: { of: string }) {
  return <Badge>{useTypeLabel()(of)}</Badge>;
}
