import { useQuery } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { keys } from "../api/govern";
import { may, me } from "../api/queries";
import { Copy } from "./parts";

// useKeyName is the name of the key that a subject is, for those who may read keys.
export function useKeyName(subject: string | undefined): string | undefined {
  const { tenant = "" } = useParams({ strict: false });
  const who = useQuery({ ...me(tenant), enabled: tenant !== "" });
  const found = useQuery({
    ...keys(tenant), enabled: tenant !== "" && !!subject?.startsWith("key:") && may(who.data, "keys.read"), staleTime: 60_000,
  });
  return found.data?.items.find((k) => `key:${k.id}` === subject)?.name;
}

// Subject is who did something: a key by its name, or by the end of its id where the name is not to be had.
export function Subject({ of, copy = false }: { of: string | undefined; copy?: boolean }) {
  const name = useKeyName(of);
  if (!of) return <span className="none">–</span>;
  const [kind, ...rest] = of.split(":");
  const id = rest.join(":");
  const short = name ? `key ${name}` : (kind === "key" || kind === "page") && id.length > 12 ? `${kind} …${id.slice(-6)}` : of;
  return (
    <span className={copy ? "id" : undefined}>
      <span className="version" title={of}>{short}</span>
      {copy && <Copy text={of} label={`Copy ${of}`} />}
    </span>
  );
}
