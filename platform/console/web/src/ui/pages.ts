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
  {
    name: "Govern",
    pages: [
      { name: "Usage", path: "usage", to: "/t/$tenant/usage", key: "u", feature: "usage" },
      { name: "Limits", path: "limits", to: "/t/$tenant/limits", key: "l", feature: "budgets" },
      { name: "Audit", path: "audit", to: "/t/$tenant/audit", key: "o", feature: "audit" },
      { name: "Access", path: "access", to: "/t/$tenant/access", key: "k", feature: "keys" },
      { name: "Schedules", path: "schedules", to: "/t/$tenant/schedules", key: "d", feature: "schedules" },
      { name: "Webhooks", path: "webhooks", to: "/t/$tenant/webhooks", key: "w", feature: "webhooks" },
      { name: "Settings", path: "settings", to: "/t/$tenant/settings", key: ",", feature: "settings" },
    ],
  },
      { name: "Inbox", path: "inbox", to: "/t/$tenant/inbox", key: "i", feature: "inbox" },
    ],
  },
  {
    name: "Connect",
    pages: [
      { name: "MCP servers", path: "mcp-servers", to: "/t/$tenant/mcp-servers", key: "m", feature: "tools" },
    ],
  },
  { name: "Govern", pages: [] },
] as const;

export const pages = groups.flatMap((g) => [...g.pages]);
