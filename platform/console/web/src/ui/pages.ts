// pages are those of the navigation. A new page has a line here, a route in routes.tsx, and a file in pages.
export const pages = [
  { name: "Tools", path: "tools", to: "/t/$tenant/tools", key: "t", feature: "tools" },
  { name: "Agents", path: "agents", to: "/t/$tenant/agents", key: "a", feature: "agents" },
  { name: "Runs", path: "runs", to: "/t/$tenant/runs", key: "r", feature: "runs" },
  { name: "Approvals", path: "approvals", to: "/t/$tenant/approvals", key: "i", feature: "approvals" },
] as const;
