import { type Command, Option } from "commander";
import type { ApiKey, ApiKeyCreate } from "../../../contract/schemas/api-key.ts";
import type { Scope } from "../../../contract/scopes.ts";
import { formatTimestamp } from "../../../contract/timestamps.ts";
import type { Context } from "../../context.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { duration } from "../../arguments/times.ts";
import { scopeNames } from "../../arguments/scopes.ts";
import { addIdempotencyKey } from "../resource/idempotency-key.ts";
import { refuseQuiet, showSecret } from "../resource/show-secret.ts";
import { KEYS, NEW_KEY } from "./view.ts";

interface Flags {
  name?: string;
  scope?: Scope[];
  ipAllow?: string[];
  /** Seconds. */
  expiresIn?: number;
  idempotencyKey?: string;
}

const TEN_YEARS = 3653 * 86_400;

export function registerCreate(keys: Command, context: Context): void {
  const create = keys
    .command("create")
    .description("Create an API key; it is shown once. With --scope it is a restricted one, the recommended kind")
    .option("--name <text>", "What it is for")
    .addOption(
      new Option("--scope <scopes...>", "What it may do, such as customers:read (default: all that you may)").argParser(
        scopeNames,
      ),
    )
    .option("--ip-allow <ranges...>", "Only from these addresses, in CIDR form: 203.0.113.0/24")
    .option("--expires-in <duration>", "End it after this long, such as 90d", duration(60, TEN_YEARS));
  addIdempotencyKey(create).action((flags: Flags) => runCreate(flags, context));
  addExamples(addFields(create, KEYS.view), [
    "service keys create --name reports --scope customers:read orders:read --expires-in 90d",
    "service keys create --name worker --scope customers:write --ip-allow 203.0.113.0/24",
    "service keys create --name ci --scope listen:read --json --jq .key > key.txt",
  ]);
}

async function runCreate({ name, scope, ipAllow, expiresIn, idempotencyKey }: Flags, context: Context): Promise<void> {
  refuseQuiet(context, NEW_KEY);
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
