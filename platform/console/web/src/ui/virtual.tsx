import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useLayoutEffect, useRef, type ReactNode } from "react";

// Virtual shows a list of any length by what is seen of it. What is added before does not move what one reads,
// and what is added at the end is followed while one is there.

const near = 400; // Pixels from an end at which more is asked for.

export function Virtual<T>({ items, keyOf, show, estimate, label, className = "", log = false, onStart, onEnd, begin = "end", head, foot, onSeen }: {
  items: T[];
  keyOf: (item: T) => string;
  show: (item: T, index: number) => ReactNode;
  estimate: number;
  label: string;
  className?: string;
  log?: boolean;
  onStart?: (() => void) | undefined;
  onEnd?: (() => void) | undefined;
  begin?: "start" | "end";
  head?: ReactNode;
  foot?: ReactNode;
  onSeen?: (first: number, last: number) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const stuck = useRef(begin === "end");
  const anchor = useRef<{ key: string; rest: number }>(undefined);
  const firstKey = useRef<string>(undefined);
  const v = useVirtualizer({
    count: items.length,
    getScrollElement: () => box.current,
    estimateSize: () => estimate,
    overscan: 8,
    getItemKey: useCallback((i: number) => keyOf(items[i]!), [items, keyOf]),
  });
  const seen = v.getVirtualItems();
  const size = v.getTotalSize();
  const first = items[0] && keyOf(items[0]);

  // What was prepended moves what is seen back to where it was.
  useLayoutEffect(() => {
    const at = anchor.current;
    if (box.current && at && firstKey.current !== undefined && first !== firstKey.current && !stuck.current) {
      const i = items.findIndex((item) => keyOf(item) === at.key);
      const start = v.measurementsCache[i]?.start;
      if (start !== undefined) box.current.scrollTop = start + at.rest;
    }
    firstKey.current = first;
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [first]);

  useLayoutEffect(() => {
    if (stuck.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [size, items.length, foot]);

  const from = seen[0]?.index ?? 0;
  const to = seen.at(-1)?.index ?? 0;
  useLayoutEffect(() => onSeen?.(from, to), [from, to, onSeen]);

  const onScroll = () => {
    const el = box.current!;
    const top = v.getVirtualItems().find((i) => i.end > el.scrollTop);
    anchor.current = top && { key: String(top.key), rest: el.scrollTop - top.start };
    stuck.current = begin === "end" && el.scrollHeight - el.scrollTop - el.clientHeight < 40;
    if (el.scrollTop < near) onStart?.();
    if (el.scrollHeight - el.scrollTop - el.clientHeight < near) onEnd?.();
  };
  return (
    <div className={`virtual ${className}`}>
      {head}
      <div ref={box} className="virtual-box" tabIndex={0} role={log ? "log" : "group"} aria-label={label} onScroll={onScroll}
        {...(log && { "aria-live": "off" as const })}>
        <div className="virtual-all" style={{ height: size }}>
          {seen.map((i) => (
            <div key={i.key} ref={v.measureElement} data-index={i.index} className="virtual-item" style={{ transform: `translateY(${i.start}px)` }}>
              {show(items[i.index]!, i.index)}
            </div>
          ))}
        </div>
        {foot}
      </div>
    </div>
  );
}
