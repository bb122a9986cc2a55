// Published pages, sessions, and spaces.

export const shareRoutes = [] as const;
