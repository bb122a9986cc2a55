// What was opened of late, by tenant: addresses and titles of this browser, and nothing of what they show.
export interface Place {
  path: string; // Below the tenant.
  title: string;
}

const most = 8;
const key = (tenant: string) => `toolcrib.recent.${tenant}`;

export function recent(tenant: string): Place[] {
  try {
    const all: unknown = JSON.parse(sessionStorage.getItem(key(tenant)) ?? "[]");
    return Array.isArray(all) ? (all as Place[]) : [];
  } catch {
    return [];
  }
}

export function visited(tenant: string, place: Place): void {
  const all = [place, ...recent(tenant).filter((p) => p.path !== place.path)].slice(0, most);
  sessionStorage.setItem(key(tenant), JSON.stringify(all));
}
