// The code that the soak shares with the tests. run.js bundles it, since Node 20 does not load TypeScript.
export { findViolations } from "../test/invariants/invariants.ts";
export { startBalancer } from "../test/postgres/balancer.ts";
export { apiOf } from "../test/support/api.ts";
export { startPostgres } from "../test/support/postgres.ts";
