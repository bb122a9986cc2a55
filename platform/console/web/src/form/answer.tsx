import { useQuery } from "@tanstack/react-query";
import { toolForm } from "../api/queries";
import type { Json } from "../api/json";
import { Loading } from "../ui/states";
import { Output, type Result } from "./output";
import type { FormSpec, Section } from "./spec";

// CallOutput shows what a call answered, by the sections and the form of the version that was called; where these
// cannot be read, as any value.
export default function CallOutput({ tenant, tool, version, result, value, label = "Result" }: {
  tenant: string;
  tool: string;
  version?: string | undefined;
  result?: unknown;
  value?: Json | undefined;
  label?: string;
}) {
  const pinned = useQuery({ ...toolForm(tenant, tool, version), retry: false, staleTime: 300_000, enabled: tool !== "" });
  // A draft that was called has a number that no version has.
  const draft = useQuery({ ...toolForm(tenant, tool), retry: false, staleTime: 300_000, enabled: pinned.isError && !!version });
  if (pinned.isLoading || draft.isLoading) return <Loading rows={2} />;
  const form = pinned.data ?? draft.data;
  return (
    <Output result={result as Result | undefined} value={value} spec={form?.output as FormSpec | undefined}
      sections={form?.output_sections as Section[] | undefined} tenant={tenant} label={label} />
  );
}
