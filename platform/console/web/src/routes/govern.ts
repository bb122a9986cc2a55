// Who may do what, at what cost, and what was done.

export const governRoutes = [] as const;
