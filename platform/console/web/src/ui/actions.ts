import { setPaused } from "../api/stream";
import { keysEnabled, setKeysEnabled } from "./keys";
import { applyTheme, theme } from "./theme";

// actions are what the palette does beside going to pages and things. A new one has a line here: with at, it opens
// that page of the tenant; with run, it does something. words are others by which it is found.
export interface Action {
  name: string;
  words?: string;
  needs?: string; // The permission without which it is not offered.
  at?: string;
  run?: () => void;
  hidden?: () => boolean;
}

const dark = () => theme() === "dark" || (theme() === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
const paused = () => localStorage.getItem("toolcrib.paused") === "1";

export const actions: Action[] = [
  { name: "Create a tool", words: "new add", needs: "tools.write", at: "tools/new" },
  { name: "See what failed", words: "errors failures overview", needs: "runs.read", at: "" },
  { name: "Decide what waits", words: "approve reject approvals", needs: "approvals.read", at: "inbox" },
  { name: "See your account", words: "sessions browsers permissions me", at: "account" },
  { name: "Switch to dark", words: "theme appearance", run: () => applyTheme("dark"), hidden: dark },
  { name: "Switch to light", words: "theme appearance", run: () => applyTheme("light"), hidden: () => !dark() },
  { name: "Appearance as the system", words: "theme", run: () => applyTheme("system"), hidden: () => theme() === "system" },
  { name: "Pause live", words: "stop updates", run: () => setPaused(true), hidden: paused },
  { name: "Go live", words: "resume updates pause", run: () => setPaused(false), hidden: () => !paused() },
  { name: "Switch single-key shortcuts off", words: "keyboard", run: () => setKeysEnabled(false), hidden: () => !keysEnabled() },
  { name: "Switch single-key shortcuts on", words: "keyboard", run: () => setKeysEnabled(true), hidden: keysEnabled },
];
