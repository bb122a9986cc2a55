// What tools reach: credentials, servers, pipelines.

export const connectRoutes = [] as const;
