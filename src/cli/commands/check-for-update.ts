import { parseBaseUrl, urlOf } from "../../client/base-url.ts";
import { createTransport } from "../../client/transport.ts";
import { proxiesOf } from "../connect.ts";
import type { CommandDefinition } from "../command.ts";
import type { Context } from "../context.ts";
import { isVersion, readUpdateState, writeUpdateState } from "../update-notice.ts";

const REGISTRY = "https://registry.npmjs.org";
const TIME_LIMIT_SECONDS = 20;
const MAX_BYTES = 1024 * 1024;

/** `service check-for-update`: queries the package registry and stores the result. Runs in the background. */
export const command: CommandDefinition = {
  name: "check-for-update",
  about: "Query the package registry for the latest version and store the result",
  run: runCheck,
};

async function runCheck(context: Context): Promise<void> {
  const registry = parseBaseUrl(context.env["SERVICE_REGISTRY_URL"] || REGISTRY, { insecure: false });
  const { status, text } = await createTransport(proxiesOf(context)).send({
    method: "GET",
    url: urlOf(registry, "/service-cli/latest"),
    headers: { Accept: "application/json", "User-Agent": `service-cli/${context.version}` },
    body: undefined,
    timeLimit: TIME_LIMIT_SECONDS,
    maxBytes: MAX_BYTES,
    signal: context.signal,
  });
  const latest = status === 200 ? (JSON.parse(text) as { version?: unknown }).version : undefined;
  if (!isVersion(latest)) return;
  const folder = context.settingsDirectory;
  writeUpdateState(folder, { ...readUpdateState(folder), latest });
}
