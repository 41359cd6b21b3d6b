import { type Command, Option } from "commander";
import { memberNamesOf } from "../../../client/response-check.ts";
import { objectId } from "../../arguments/values.ts";
import type { ScanFlags } from "./scan/run.ts";
import { ageOf, CREATED, CREATED_AT, ENVIRONMENT, ID, timeWithAge } from "../../resource/columns.ts";
import { registerCreate, registerUpdate } from "../../resource/fields.ts";
import { locationOf, nounsFor, type Resource } from "../../resource/resource.ts";
import { rejectQuiet, showSecret } from "../../resource/show-secret.ts";
import { callVerb, confirmDestruction, registerGet, registerList } from "../../resource/verbs.ts";
import type { Context } from "../../context.ts";
import { addDryRun } from "../../dry-run.ts";
import { UsageError } from "../../errors.ts";
import { addExamples, addFields } from "../../help-layout.ts";
import { relativeTime } from "../../terminal/time.ts";
import type { Column, ViewContext } from "../../terminal/view.ts";
import type { ApiKey } from "../../../contract/schemas/api-key.ts";

/** `service keys`. */
export function register(program: Command, context: Context): void {
  const keys = program
    .command("keys")
    .description(
      "Manage API keys and scan for leaked ones. A key belongs to one environment: pass --live for live keys.",
    );
  addExamples(keys, [
    "service keys create --name reports --scope customers:read --expires-in 90d",
    "service keys list",
    "service keys scan --staged",
  ]);
  registerCreate(keys, context, "api_key", KEYS, {
    description: "Create an API key and show it, once",
    further: [new Option("--full-access", "Create a full key, with all scopes of your credential").conflicts("scope")],
    check: (flags) => {
      rejectQuiet(context, "api_key");
      if (flags["scope"] !== undefined || flags["fullAccess"] === true) return;
      throw new UsageError("No permissions specified for the key", {
        hint: "Pass --scope customers:read,orders:read, or --full-access for a key with all scopes.",
      });
    },
    show: (key) => showSecret(context, "api_key", key, KEYS.view),
    examples: [
      "service keys create --name reports --scope customers:read,orders:read --expires-in 90d",
      "service keys create --name worker --scope customers:write --ip-allow 203.0.113.0/24",
      "service keys create --name ci --scope listen:read --json --jq .key > key.txt",
    ],
  });
  registerList(keys, context, KEYS, {
    filters: [],
    examples: ["service keys list", "service keys list --json --jq '.[] | select(.last_used == null) | .id'"],
  });
  registerGet(keys, context, KEYS);
  registerUpdate(keys, context, "api_key", KEYS, {
    description: "Update the name, scopes, addresses or expiry of an API key",
    examples: [
      `service keys update ${KEYS.exampleId} --name reports`,
      `service keys update ${KEYS.exampleId} --scope customers:read,orders:read --expires-in 30d`,
      `service keys update ${KEYS.exampleId} --ip-allow any`,
    ],
  });
  registerRevoke(keys, context);
  registerRoll(keys, context);
  registerScan(keys, context);
}

function registerRevoke(keys: Command, context: Context): void {
  const revoke = keys
    .command("revoke")
    .description("Revoke an API key, effective immediately")
    .argument("<id>", "ID of the key", objectId)
    .option("--yes", "Skip the confirmation in live mode")
    .action(async (id: string, { yes }: { yes?: true }) => {
      const revoked = await endKey(context, { id, verb: "revoke", yes });
      context.output.success(`Revoked API key ${id}`);
      await context.output.object(revoked, KEYS.view);
    });
  addExamples(addDryRun(addFields(revoke, KEYS.view)), [`service keys revoke ${KEYS.exampleId}`]);
}

function registerRoll(keys: Command, context: Context): void {
  const roll = keys
    .command("roll")
    .description("Replace an API key with a new one of the same permissions; the old key is revoked")
    .argument("<id>", "ID of the key", objectId)
    .option("--yes", "Skip the confirmation in live mode")
    .action(async (id: string, { yes }: { yes?: true }) => {
      rejectQuiet(context, "api_key");
      const rolled = await endKey(context, { id, verb: "roll", yes });
      context.output.success(`Revoked API key ${id} and created ${rolled.id} in its place`);
      await showSecret(context, "api_key", rolled, KEYS.view);
    });
  addExamples(addDryRun(addFields(roll, KEYS.view)), [
    `service keys roll ${KEYS.exampleId}`,
    `service keys roll ${KEYS.exampleId} --json --jq .key > key.txt`,
  ]);
}

/** Revokes the named key, after a confirmation in live mode. */
async function endKey(
  context: Context,
  { id, verb, yes }: { id: string; verb: "revoke" | "roll"; yes: boolean | undefined },
): Promise<ApiKey> {
  await confirmDestruction(context, { id, consequence: `The API key ${id} will stop working immediately`, yes });
  return await callVerb<ApiKey>(context, KEYS, { id, verb });
}

const NAME: Column<ApiKey> = { label: "Name", text: ({ name }) => name ?? "", shrinks: true };
const KEY: Column<ApiKey> = { label: "Key", text: ({ prefix, last4 }) => `${prefix}…${last4}` };

const STATE: Column<ApiKey> = {
  label: "State",
  text: (key, { now }) => stateOf(key, now),
  style: (text, styles) => (text === "active" ? styles.good(text) : styles.dim(text)),
};

const SCOPES: Column<ApiKey> = { label: "Scopes", text: ({ scopes }) => scopes.join(" ") };
const SCOPE_COUNT: Column<ApiKey> = {
  label: "Scopes",
  text: ({ scopes }, { terminal }) => (terminal && scopes.length > 2 ? `${scopes.length} scopes` : scopes.join(" ")),
  shrinks: true,
};
const ADDRESSES: Column<ApiKey> = { label: "Addresses", text: ({ ip_allowlist }) => ip_allowlist.join(" ") || "any" };
const LAST_USED: Column<ApiKey> = {
  label: "Last used",
  text: ({ last_used }, view) => (last_used === null ? never(view) : ageOf(last_used, view)),
};
const LAST_USED_AT: Column<ApiKey> = {
  label: "Last used",
  text: ({ last_used }, view) => (last_used === null ? never(view) : timeWithAge(last_used, view)),
};
const EXPIRES: Column<ApiKey> = {
  label: "Expires",
  text: ({ expires_at }, view) => {
    if (expires_at === null) return never(view);
    return view.terminal ? `${expires_at}  (${relativeTime(expires_at, view.now)})` : expires_at;
  },
};

const CREATED_BY: Column<ApiKey> = { label: "Created by", text: ({ created_by }) => created_by ?? "" };

const REVOKED: Column<ApiKey> = {
  label: "Revoked",
  text: ({ revoked_at, revoked_reason }, view) => {
    if (revoked_at === null) return "";
    const reason = revoked_reason === null || revoked_reason === "revoked" ? "" : `, ${revoked_reason}`;
    return timeWithAge(revoked_at, view) + reason;
  },
  style: (text, styles) => styles.warn(text),
};

const KEYS: Resource<ApiKey> = {
  ...locationOf("api_key"),
  view: {
    ...nounsFor("api_key"),
    fields: memberNamesOf("ApiKey"),
    columns: [
      ID,
      NAME,
      { ...KEY, optional: true },
      STATE,
      { ...SCOPE_COUNT, optional: true },
      { ...LAST_USED, optional: true },
      CREATED,
    ],
    details: [
      ID,
      NAME,
      KEY,
      STATE,
      SCOPES,
      ADDRESSES,
      EXPIRES,
      LAST_USED_AT,
      REVOKED,
      ENVIRONMENT,
      CREATED_AT,
      CREATED_BY,
    ],
  },
};

function stateOf({ revoked_at, expires_at }: ApiKey, now: number): "active" | "revoked" | "expired" {
  if (revoked_at !== null) return "revoked";
  return expires_at !== null && Date.parse(expires_at) <= now ? "expired" : "active";
}

function never({ terminal }: ViewContext): string {
  return terminal ? "never" : "";
}

/** `service keys scan`. */
function registerScan(keys: Command, context: Context): void {
  const scan = keys
    .command("scan")
    .summary("Scan files or a git repository for leaked keys")
    .description(
      "Scan files or a git repository for API keys, tokens and client secrets. Works offline: checksums identify real credentials. Exits with 1 if one is found.",
    )
    .argument("[path]", "File or folder (default: current folder)")
    .option("--staged", "Scan the staged changes")
    .option("--history", "Scan all commits, messages, tags and names of the repository")
    .option("--revoke", "Revoke each credential that is found")
    .option("--yes", "Skip the confirmation before live credentials are revoked")
    .addHelpText(
      "after",
      `
As a pre-commit hook, in .git/hooks/pre-commit (an executable file):
  #!/bin/sh
  exec service keys scan --staged

Folders: binary files over 1 MB and .git are skipped. Repositories: programs
that the repository's configuration names are not run, and nothing is fetched.
Signing secrets (whsec_…) have no checksum and are not detected.`,
    )
    .action(async (path: string | undefined, flags: ScanFlags) => {
      const { runScan } = await import("./scan/run.ts");
      await runScan(path ?? ".", flags, context);
    });
  addExamples(scan, [
    "service keys scan",
    "service keys scan --staged                  # before a commit",
    "service keys scan ~/src/shop --history --revoke",
  ]);
}
