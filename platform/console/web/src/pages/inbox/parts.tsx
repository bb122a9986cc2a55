import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { me } from "../../api/queries";
import { Time } from "../../ui/parts";
import { Subject } from "../../ui/subject";

// Until counts down to a moment, by seconds within the last hour.
export function Until({ at }: { at?: string | undefined }) {
  const [now, setNow] = useState(Date.now);
  const left = at ? Date.parse(at) - now : 0;
  const near = !!at && left < 3_600_000 && left > 0;
  useEffect(() => {
    if (!at || left <= 0) return;
    const timer = setTimeout(() => setNow(Date.now()), near ? 1000 : 60_000);
    return () => clearTimeout(timer);
  });
  if (!at) return <span className="none">–</span>;
  if (left <= 0) return <span className="error">over</span>;
  if (!near) return <Time at={at} />;
  const s = Math.floor(left / 1000);
  return (
    <time dateTime={at} title={at} className={left < 300_000 ? "soon" : undefined}>
      in {s >= 60 && `${Math.floor(s / 60)} min `}{s % 60} s
    </time>
  );
}

// Who is a subject: you, or another.
export function Who({ tenant, subject }: { tenant: string; subject: string }) {
  const mine = useQuery(me(tenant)).data?.subject;
  return subject === mine ? <span>you</span> : <Subject of={subject} copy />;
}
