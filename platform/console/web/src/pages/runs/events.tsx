import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { print } from "../../api/json";
import type { Event, List, Run } from "../../api/queries";
import { eventsAfter, useWindow } from "../../api/runs";
import { Time } from "../../ui/parts";
import { Empty, Failed, Loading } from "../../ui/states";
import { Virtual } from "../../ui/virtual";

const size = 200;
const keyOf = (e: Event) => String(e.seq);

// before reads the events up to a number. What models and tools wrote has numbers too, so there may be fewer.
async function before(tenant: string, id: string, last: number): Promise<List<Event>> {
  const after = Math.max(0, last - size);
  const found = (await eventsAfter(tenant, id, after, size)).items.filter((e) => e.seq <= last);
  return { items: found, ...(after > 0 && { next: String(after) }) };
}

export function Events({ tenant, of: r, fromStart }: { tenant: string; of: Run; fromStart: boolean }) {
  return fromStart ? <FromStart tenant={tenant} of={r} /> : <Newest tenant={tenant} of={r} />;
}

function Newest({ tenant, of: r }: { tenant: string; of: Run }) {
  const found = useQuery({ queryKey: [tenant, "run", r.id, "events", "last", r.last_seq], queryFn: () => before(tenant, r.id, r.last_seq), placeholderData: (d) => d });
  const all = useWindow(found, keyOf, useCallback((last: string) => before(tenant, r.id, Number(last)), [tenant, r.id]));
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} what="The list of events" />;
  return <Listed items={all.items} begin="end" onStart={all.earlier ? all.more : undefined} note={all.loading ? "Earlier events are read…" : undefined} />;
}

function FromStart({ tenant, of: r }: { tenant: string; of: Run }) {
  const found = useInfiniteQuery({
    queryKey: [tenant, "events-from-start", r.id],
    queryFn: ({ pageParam }) => eventsAfter(tenant, r.id, pageParam, size),
    initialPageParam: 0,
    getNextPageParam: (last) => (last.items.length === size ? last.items.at(-1)!.seq : undefined),
  });
  const items = useMemo(() => found.data?.pages.flatMap((p) => p.items) ?? [], [found.data]);
  if (found.isPending) return <Loading />;
  if (found.error) return <Failed error={found.error} retry={() => void found.refetch()} what="The list of events" />;
  return <Listed items={items} begin="start" onEnd={found.hasNextPage && !found.isFetchingNextPage ? () => void found.fetchNextPage() : undefined}
    note={found.isFetchingNextPage ? "Later events are read…" : undefined} />;
}

function Listed({ items, begin, onStart, onEnd, note }: {
  items: Event[];
  begin: "start" | "end";
  onStart?: (() => void) | undefined;
  onEnd?: (() => void) | undefined;
  note?: string | undefined;
}) {
  if (items.length === 0) return <Empty title="Nothing happened yet" />;
  return (
    <Virtual key={begin} items={items} keyOf={keyOf} estimate={32} label="Events" className="events" log begin={begin} onStart={onStart} onEnd={onEnd}
      show={(e) => <Line of={e} />}
      head={
        <p className="virtual-head">
          <span className="muted">{note ?? `${items[0]!.seq} to ${items.at(-1)!.seq}`}</span>
          {onStart && <button type="button" className="quiet" onClick={onStart}>Earlier</button>}
          {begin === "end" && onStart && <Link from="/t/$tenant/runs/$run" search={(s) => ({ ...s, from: "start" })} replace resetScroll={false}>From the start</Link>}
          {begin === "start" && <Link from="/t/$tenant/runs/$run" search={(s) => ({ ...s, from: undefined })} replace resetScroll={false}>Newest</Link>}
        </p>
      } />
  );
}

function Line({ of: e }: { of: Event }) {
  const call = (e as Event & { invocation_id?: string }).invocation_id;
  return (
    <div className="event">
      <span className="muted seq">{e.seq}</span>
      {call ? <Link from="/t/$tenant/runs/$run" search={(s) => ({ ...s, call })} resetScroll={false} className="slug">{e.type}</Link> : <span className="slug">{e.type}</span>}
      <span className="muted line">{e.data === undefined ? "" : print(e.data).slice(0, 300)}</span>
      <Time at={e.at} />
    </div>
  );
}
