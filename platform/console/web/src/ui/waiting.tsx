import { useEffect } from "react";
import { shown, useCounts } from "../api/inbox";
import type { Me } from "../api/queries";

// Waiting is how much waits for who is signed in. The title of a tab that is not seen has it too.
export function Waiting({ tenant, who }: { tenant: string; who: Me }) {
  const { total } = useCounts(tenant, who);
  const text = total.n > 0 ? shown(total) : "";
  useEffect(() => {
    if (!text) return;
    let before = "";
    const ours = `(${text}) Inbox · Toolcrib`;
    const seen = () => {
      if (document.hidden) {
        before = document.title;
        document.title = ours;
      } else if (document.title === ours && before) document.title = before;
    };
    seen();
    document.addEventListener("visibilitychange", seen);
    return () => {
      document.removeEventListener("visibilitychange", seen);
      if (document.title === ours && before) document.title = before;
    };
  }, [text]);
  if (!text) return null;
  return (
    <span className="count">
      {text}
      <span className="unseen"> waiting</span>
    </span>
  );
}
