import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AUTHORIZATION_CHECKS } from "../oauth/checks/authorization.ts";
import { CLIENT_CHECKS } from "../oauth/checks/client-authentication.ts";
import { DEVICE_CHECKS } from "../oauth/checks/device.ts";
import { TOKEN_CHECKS } from "../oauth/checks/tokens.ts";
import { startOracle } from "./oracle/start.ts";
import type { AuthorizationServer } from "../oauth/support/authorization-server.ts";

/** Differences between oidc-provider and our server, and why the check is still right. */
const DIFFERENCES: Record<string, string> = {
  "a challenge of 44 characters is refused": "it takes any length from 43 to 128, though S256 gives 43 only",
  "the question stands in no frame and is kept nowhere": "its own pages are for development; a product brings its own",
  "iss comes with an error": "the error is an unknown scope, which it leaves out instead of refusing",
  "200 unknown scopes are refused": "it leaves unknown scopes out",
  "a request without scopes is refused": "it grants nothing at all then, which RFC 6749 3.3 lets a server choose",
  "an unknown scope is refused": "it leaves unknown scopes out",
  "a request without state is refused": "RFC 6749 only recommends state; our server requires it",
  "of 10 refreshes at once, the one that succeeds got a token that lives":
    "it takes every repeated token for a theft, so that a client with two processes is signed out",
  "within the grace the direct parent gets another successor, and one token lives":
    "it has no grace: a client killed between rotation and writing its file is signed out",
  "a successor that is replaced within the grace takes its access token along, and no other": "it has no grace",
  "a poll before the answer is pending, the one behind it too early": "it never says slow_down",
};

let server: AuthorizationServer;
let stop: () => void;

beforeAll(async () => ({ server, stop } = await startOracle()));
afterAll(() => stop());

const checks = [...AUTHORIZATION_CHECKS, ...TOKEN_CHECKS, ...CLIENT_CHECKS, ...DEVICE_CHECKS];

describe("another server passes the checks", () => {
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
