import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AUTHORIZATION_CHECKS } from "../platform/oauth/checks/authorization.ts";
import { CLIENT_CHECKS } from "../platform/oauth/checks/client-authentication.ts";
import { DEVICE_CHECKS } from "../platform/oauth/checks/device.ts";
import { TOKEN_CHECKS } from "../platform/oauth/checks/tokens.ts";
import { startOracle } from "./oracle/start.ts";
import type { AuthorizationServer } from "../platform/oauth/support/authorization-server.ts";

/** Differences between oidc-provider and our server, and why the check is still right. */
const DIFFERENCES: Record<string, string> = {
  "a challenge of 44 characters is rejected": "it accepts any length from 43 to 128, though S256 yields 43 only",
  "the consent page cannot be framed and is not cached": "its own pages are for development; a product brings its own",
  "iss comes with an error": "the error is an unknown scope, which it omits instead of rejecting it",
  "200 unknown scopes are rejected": "it omits unknown scopes",
  "a request without scopes is rejected": "it then grants nothing, which RFC 6749 3.3 allows",
  "an unknown scope is rejected": "it omits unknown scopes",
  "a request without state is rejected": "RFC 6749 only recommends state; our server requires it",
  "of 10 refreshes at once, the successful one gets a valid token":
    "it treats every repeated token as stolen, so that a client with two processes is signed out",
  "within the grace period the direct parent gets another successor, and one token stays valid":
    "it has no grace period: a client killed between rotation and writing its file is signed out",
  "a successor that is replaced within the grace period is revoked with its access token, and no other":
    "it has no grace period",
  "a poll before the user's choice is pending, and an immediate second one is too early": "it never returns slow_down",
};

let server: AuthorizationServer;
let stop: () => void;

beforeAll(async () => ({ server, stop } = await startOracle()));
afterAll(() => stop());

const checks = [...AUTHORIZATION_CHECKS, ...TOKEN_CHECKS, ...CLIENT_CHECKS, ...DEVICE_CHECKS];

describe("another OAuth server passes the checks", () => {
  it.each(checks.filter(({ name }) => DIFFERENCES[name] === undefined).map((check) => [check.name, check] as const))(
    "%s",
    (_name, check) => check.run(server),
  );
});

describe("with known differences", () => {
  it.each(Object.entries(DIFFERENCES))("%s (%s)", async (name) => {
    const check = checks.find((candidate) => candidate.name === name);
    await expect(check?.run(server)).rejects.toThrow();
  });
});
