import { beforeAll, describe, it } from "vitest";
import { AUTHORIZATION_CHECKS } from "./checks/authorization.ts";
import { CLIENT_CHECKS } from "./checks/client-authentication.ts";
import { DEVICE_CHECKS } from "./checks/device.ts";
import { TOKEN_CHECKS } from "./checks/tokens.ts";
import { embeddedPlatform } from "./support/embedded-platform.ts";
import { type OurServer, ourServer } from "./support/our-server.ts";

const platform = embeddedPlatform();
let server: OurServer;

beforeAll(async () => {
  server = await ourServer(platform);
});

describe.each([
  ["authorization requests", AUTHORIZATION_CHECKS],
  ["tokens", TOKEN_CHECKS],
  ["apps prove themselves", CLIENT_CHECKS],
  ["devices", DEVICE_CHECKS],
])("%s", (_area, checks) => {
  it.each(checks.map((check) => [check.name, check] as const))("%s", (_name, check) => check.run(server));
});
