import { type Command, Option } from "commander";
import { collectList, repeatable } from "../../arguments/repeated.ts";
import type { ApiKey, ApiKeyCreate } from "../../../contract/schemas/api-key.ts";
import type { Scope } from "../../../contract/scopes.ts";
import { formatTimestamp } from "../../../contract/timestamps.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { duration } from "../../arguments/times.ts";
import { scopeNames } from "../../arguments/scopes.ts";
import { addIdempotencyKey } from "../resource/idempotency-key.ts";
import { rejectQuiet, showSecret } from "../resource/show-secret.ts";
import { KEYS, NEW_KEY } from "./view.ts";

interface Flags {
  name?: string;
  scope?: Scope[];
  ipAllow?: string[];
  /** Seconds. */
  expiresIn?: number;
  fullAccess?: true;
  idempotencyKey?: string;
}

const TEN_YEARS = 3653 * 86_400;

export function registerCreate(keys: Command, context: Context): void {
  const create = keys
    .command("create")
    .description("Create an API key and show it, once")
    .option("--name <text>", "Name, such as the service that uses the key")
    .addOption(
      repeatable(
        new Option("--scope <scopes>", "Scopes, separated by commas: customers:read (repeatable)"),
        scopeNames,
      ),
    )
    .addOption(new Option("--full-access", "Create a full key, with all scopes of your credential").conflicts("scope"))
    .addOption(
      repeatable(
        new Option("--ip-allow <ranges>", "Allowed addresses in CIDR form, separated by commas (repeatable)"),
        collectList,
      ),
    )
    .option("--expires-in <duration>", "Time until the key expires, such as 90d", duration(60, TEN_YEARS));
  addIdempotencyKey(create).action((flags: Flags) => runCreate(flags, context));
  addExamples(addFields(create, KEYS.view), [
    "service keys create --name reports --scope customers:read,orders:read --expires-in 90d",
    "service keys create --name worker --scope customers:write --ip-allow 203.0.113.0/24",
    "service keys create --name ci --scope listen:read --json --jq .key > key.txt",
  ]);
}

async function runCreate(flags: Flags, context: Context): Promise<void> {
  const { name, scope, ipAllow, expiresIn, fullAccess, idempotencyKey } = flags;
  rejectQuiet(context, NEW_KEY);
  if (scope === undefined && !fullAccess) {
    throw new UsageError("No permissions specified for the key", {
      hint: "Pass --scope customers:read,orders:read, or --full-access for a key with all scopes.",
    });
  }
  const body: ApiKeyCreate = {
    ...(name === undefined ? {} : { name }),
    ...(scope === undefined ? {} : { scopes: scope }),
    ...(ipAllow === undefined ? {} : { ip_allowlist: ipAllow }),
    ...(expiresIn === undefined ? {} : { expires_at: formatTimestamp(context.now() + expiresIn * 1000) }),
  };
  const client = await context.client();
  const { body: created } = await client.request<ApiKey>({ method: "POST", path: KEYS.path, body, idempotencyKey });
  context.output.success(`Created API key ${created.id}`);
  await showSecret(context, created, KEYS.view, NEW_KEY);
}
