import { afterEach, beforeEach, expect, it } from "vitest";
import { createMinuteClock, type MinuteClock } from "../delivery/support/minute-clock.ts";
import { apiOf } from "../../support/api.ts";
import { obtainTokens, refreshWith } from "./support/authorization-server.ts";
import { type EmbeddedPlatform, startEmbedded } from "./support/embedded-platform.ts";
import { type OurServer, ourServer } from "./support/our-server.ts";

const DAY = 86_400_000;

let clock: MinuteClock;
let platform: EmbeddedPlatform;
let server: OurServer;
beforeEach(async () => {
  clock = createMinuteClock();
  platform = await startEmbedded({ clock });
  server = await ourServer(platform);
});
afterEach(() => platform.close());

/** Advances the time and lets the periodic tasks run once. */
async function pass(days: number): Promise<void> {
  clock.pass(days * DAY);
  const tasks = clock.waiting();
  clock.passMinute();
  await expect.poll(() => clock.waiting()).toBe(tasks);
}

it("a grant is deleted with its tokens once it can no longer be refreshed, and not before", async () => {
  const left = await obtainTokens(server, "public");
  const used = await obtainTokens(server, "public");
  const codeOf = async (token: string) => (await apiOf(platform.baseUrl, token)("GET", "/v1/me")).body.code as string;
  await pass(20);
  expect(await codeOf(left.access_token)).toBe("expired_credential");
  const { status, body: refreshed } = await refreshWith(server, "public", used.refresh_token);
  expect(status).toBe(200);
  await pass(11);
  expect(await codeOf(left.access_token)).toBe("invalid_credential");
  expect(await codeOf(refreshed.access_token)).toBe("expired_credential");
  expect((await refreshWith(server, "public", refreshed.refresh_token)).status).toBe(200);
});
