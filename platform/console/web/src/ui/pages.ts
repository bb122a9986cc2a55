// pages are those of the navigation, by group. A new page has a line here, a route in routes/, and a file in pages.
// key goes there after g; feature is one of those that /v1/me lists.
export const groups = [
  {
    name: "Now",
    pages: [
      { name: "Overview", path: "", to: "/t/$tenant", key: "o", feature: "overview" },
      { name: "Inbox", path: "inbox", to: "/t/$tenant/inbox", key: "i", feature: "inbox" },
    ],
  },
  {
    name: "Build",
    pages: [
      { name: "Tools", path: "tools", to: "/t/$tenant/tools", key: "t", feature: "tools" },
      { name: "Agents", path: "agents", to: "/t/$tenant/agents", key: "a", feature: "agents" },
      { name: "Profiles", path: "profiles", to: "/t/$tenant/profiles", key: "p", feature: "tools" },
      { name: "MCP servers", path: "mcp-servers", to: "/t/$tenant/mcp-servers", key: "m", feature: "tools" },
      { name: "Toolsets", path: "toolsets", to: "/t/$tenant/toolsets", key: "x", feature: "tools" },
      { name: "Pipelines", path: "pipelines", to: "/t/$tenant/pipelines", key: "b", feature: "pipelines" },
      { name: "Credentials", path: "credentials", to: "/t/$tenant/credentials", key: "e", feature: "credentials" },
    ],
  },
  {
    name: "Work",
    pages: [
      { name: "Runs", path: "runs", to: "/t/$tenant/runs", key: "r", feature: "runs" },
      { name: "Calls", path: "calls", to: "/t/$tenant/calls", key: "c", feature: "runs" },
      { name: "Spaces", path: "spaces", to: "/t/$tenant/spaces", key: "s", feature: "spaces" },
      { name: "Published", path: "published", to: "/t/$tenant/published", key: "n", feature: "views" },
      { name: "Schedules", path: "schedules", to: "/t/$tenant/schedules", key: "d", feature: "schedules" },
    ],
  },
  {
    name: "Govern",
    pages: [
      { name: "Usage", path: "usage", to: "/t/$tenant/usage", key: "u", feature: "usage" },
      { name: "Limits", path: "limits", to: "/t/$tenant/limits", key: "l", feature: "budgets" },
      { name: "Audit", path: "audit", to: "/t/$tenant/audit", key: "v", feature: "audit" },
      { name: "Access", path: "access", to: "/t/$tenant/access", key: "k", feature: "keys" },
      { name: "Webhooks", path: "webhooks", to: "/t/$tenant/webhooks", key: "w", feature: "webhooks" },
      { name: "Settings", path: "settings", to: "/t/$tenant/settings", key: ",", feature: "settings" },
    ],
  },
] as const;

export const pages = groups.flatMap((g) => [...g.pages]);
