/** Defaults of the project file, apart from its large schema, which only reading the file needs. */
export const PROJECT_DEFAULTS = {
  port: 4010,
  database: ".service/platform.db",
  secret: "SERVICE_WEBHOOK_SECRET",
  key: "SERVICE_API_KEY",
  url: "SERVICE_BASE_URL",
  retries: 3,
} as const;
