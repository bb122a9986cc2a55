// pages are those of the navigation, by group. A new page has a line here, a route in routes/, and a file in pages.
// key goes there after g; feature is one of those that /v1/me lists.
export const groups = [
  {
    name: "Now",
    pages: [{ name: "Overview", path: "", to: "/t/$tenant", key: "o", feature: "overview" }],
  },
  {
    name: "Build",
    pages: [
      { name: "Tools", path: "tools", to: "/t/$tenant/tools", key: "t", feature: "tools" },
      { name: "Profiles", path: "profiles", to: "/t/$tenant/profiles", key: "p", feature: "tools" },
      { name: "Agents", path: "agents", to: "/t/$tenant/agents", key: "a", feature: "agents" },
    ],
  },
  {
    name: "Work",
    pages: [
      { name: "Runs", path: "runs", to: "/t/$tenant/runs", key: "r", feature: "runs" },
      { name: "Calls", path: "calls", to: "/t/$tenant/calls", key: "c", feature: "runs" },
      { name: "Approvals", path: "approvals", to: "/t/$tenant/approvals", key: "i", feature: "approvals" },
    ],
  },
  { name: "Connect", pages: [] },
  { name: "Govern", pages: [] },
] as const;

export const pages = groups.flatMap((g) => [...g.pages]);
