import { Dialog } from "@base-ui/react/dialog";
import { useRef, useState } from "react";
import { keysEnabled, setKeysEnabled } from "./keys";
import { pages } from "./pages";

const keys: [string, string][] = [
  ["Ctrl K  ⌘K", "Search, and go anywhere"],
  ...pages.map((p): [string, string] => [`g ${p.key}`, p.name]),
  ["/", "Filter the list"],
  ["j  k", "Next and previous row"],
  ["Enter", "Open the row"],
  ["Esc", "Close"],
  ["a  r", "Approve or reject the request that is open (asks first)"],
  ["?", "This help"],
];

export function Help({ onClose }: { onClose: () => void }) {
  const [on, setOn] = useState(keysEnabled);
  const top = useRef<HTMLHeadingElement>(null); // The first control is below the fold.
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog" initialFocus={top}>
          <Dialog.Title ref={top} tabIndex={-1}>Shortcuts</Dialog.Title>
          <dl className="keys">
            {keys.map(([key, what]) => (
              <div key={key}>
                <dt>
                  {key.split("  ").map((k) => (
                    <kbd key={k}>{k}</kbd>
                  ))}
                </dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
          <label className="check">
            <input type="checkbox" checked={on} onChange={(e) => {
              setKeysEnabled(e.target.checked);
              setOn(e.target.checked);
            }} />
            Shortcuts of a single key
          </label>
          <div className="actions">
            <Dialog.Close className="button">Close</Dialog.Close>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
