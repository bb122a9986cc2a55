import { useSyncExternalStore } from "react";

// One polite live region says what changed to those who do not see it.
let message = "";
const watchers = new Set<() => void>();

export function say(text: string): void {
  message = text;
  watchers.forEach((w) => w());
}

export function LiveRegion() {
  const text = useSyncExternalStore((w) => (watchers.add(w), () => void watchers.delete(w)), () => message);
  return (
    <div className="unseen" role="status" aria-live="polite">
      {text}
    </div>
  );
}
