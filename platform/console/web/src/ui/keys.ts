// Single keys are shortcuts unless one writes, or has switched them off.
const off = "toolcrib.keys-off";

export const keysEnabled = (): boolean => localStorage.getItem(off) !== "1";
export const setKeysEnabled = (on: boolean): void => localStorage.setItem(off, on ? "0" : "1");

export function keysOff(e: KeyboardEvent): boolean {
  const at = e.target as HTMLElement | null;
  return (
    e.defaultPrevented || e.ctrlKey || e.metaKey || e.altKey || !keysEnabled() ||
    !!at?.closest("input, textarea, select, [contenteditable], [role=dialog], [role=alertdialog]")
  );
}
