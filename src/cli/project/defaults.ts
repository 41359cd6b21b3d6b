/** What the project file sets if it does not say otherwise. Its schema, which is large, is needed to read the file only. */
export const PROJECT_DEFAULTS = {
  port: 4010,
  database: ".service/platform.db",
  secret: "SERVICE_WEBHOOK_SECRET",
  key: "SERVICE_API_KEY",
  url: "SERVICE_BASE_URL",
  retries: 3,
} as const;
