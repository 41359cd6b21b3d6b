/** Tests that concern every resource: `check:changed` runs them after a change of the tables, and guide.test.ts for a new resource. */
export const RESOURCE_TESTS = [
  "test/contract/compatibility.test.ts",
  "test/contract/resources.test.ts",
  "test/contract/event-types.test.ts",
  "test/cli/trigger.test.ts",
  "test/docs/mcp.test.ts",
  "test/platform/methods.test.ts",
  "test/platform/oauth/isolation.test.ts",
  "test/platform/fuzz.test.ts",
  "test/postgres/migration-crash.test.ts",
  "test/dashboard/appearance.test.ts",
];
