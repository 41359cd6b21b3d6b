export function buildDashboard(root: string, folder: string, options?: { isDevelopment?: boolean }): Promise<object>;
