import { ApiError } from "../../api/client";

// refusedAt are the places below a member of the body that the server refused.
export function refusedAt(error: unknown, member: string): Record<string, string> {
  const out: Record<string, string> = {};
  if (error instanceof ApiError) for (const f of error.faults) if (f.path?.startsWith(member + "/")) out[f.path.slice(member.length)] = f.detail;
  return out;
}
