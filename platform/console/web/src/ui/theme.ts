export type Theme = "system" | "light" | "dark";
const key = "toolcrib.theme";

export const theme = (): Theme => (localStorage.getItem(key) as Theme | null) ?? "system";

export function applyTheme(t: Theme = theme()): void {
  localStorage.setItem(key, t);
  if (t === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = t;
}
