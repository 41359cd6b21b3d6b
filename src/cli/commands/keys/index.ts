import { memberNamesOf } from "../../../client/response-check.ts";
import type { FindingEntry } from "./scan/run.ts";
import { ageOf, CREATED, CREATED_AT, ENVIRONMENT, fieldColumns, ID, timeWithAge } from "../../resource/columns.ts";
import { createVerb, updateVerb } from "../../resource/fields.ts";
import { resourceFor } from "../../resource/resource.ts";
import { rejectQuiet, showSecret, withSecret } from "../../resource/show-secret.ts";
import { callVerb, confirmDestruction, getVerb, idOperand, listVerb, YES_IN_LIVE } from "../../resource/verbs.ts";
import { type CommandDefinition, flag } from "../../command.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { relativeTime } from "../../terminal/time.ts";
import { type Column, documentView, type ViewContext } from "../../terminal/view.ts";
import { SCOPES as SCOPE_NAMES } from "../../../contract/scopes.ts";
import type { ApiKey } from "../../../contract/schemas/api-key.ts";

const KEY: Column<ApiKey> = { label: "Key", text: ({ prefix, last4 }) => `${prefix}…${last4}` };

const STATE: Column<ApiKey> = {
  label: "State",
  text({ revoked_at, expires_at }, { now }) {
    if (revoked_at !== null) return "revoked";
    return expires_at !== null && Date.parse(expires_at) <= now ? "expired" : "active";
  },
  styleOf: (text) => (text === "active" ? "good" : "dim"),
};

const SCOPE_COUNT: Column<ApiKey> = {
  label: "Scopes",
  text({ scopes }, { terminal }) {
    if (scopes.length === SCOPE_NAMES.length) return `all ${scopes.length}`;
    return terminal && scopes.length > 2 ? `${scopes.length} scopes` : scopes.join(" ");
  },
  shrinks: true,
};
const ADDRESSES: Column<ApiKey> = { label: "Addresses", text: ({ ip_allowlist }) => ip_allowlist.join(" ") || "any" };
/** When a key was used is a fact of the real world; the sandbox's time may be ahead. */
const lastUsed = (write: typeof ageOf): Column<ApiKey> => ({
  label: "Last used",
  text: ({ last_used }, view) => (last_used === null ? never(view) : write(last_used, { ...view, now: Date.now() })),
});
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
  style: "warn",
};

const { name: NAME, ...FIELDS } = fieldColumns<ApiKey>("api_key", { ip_allowlist: ADDRESSES, expires_at: EXPIRES });

const KEYS = resourceFor<ApiKey>("api_key", {
  fields: memberNamesOf("ApiKey"),
  columns: [
    ID,
    NAME!,
    { ...KEY, optional: true },
    STATE,
    { ...SCOPE_COUNT, optional: true },
    { ...lastUsed(ageOf), optional: true },
    CREATED,
  ],
  details: [
    ID,
    NAME!,
    KEY,
    STATE,
    ...Object.values(FIELDS),
    lastUsed(timeWithAge),
    REVOKED,
    ENVIRONMENT,
    CREATED_AT,
    CREATED_BY,
  ],
});

function never({ terminal }: ViewContext): string {
  return terminal ? "never" : "";
}

/** `service keys`. */
export const command: CommandDefinition = {
  name: "keys",
  about: "Manage API keys and scan for leaked ones. A key belongs to one environment: pass --live for live keys.",
  examples: [
    "service keys create --name reports --scope customers:read --expires-in 90d",
    "service keys list",
    "service keys scan --staged",
  ],
  commands: [
    createVerb("api_key", KEYS, {
      about: "Create an API key and show it, once",
      further: [
        flag("--full-access", "Create a full-access key, with all scopes of your credential", { conflicts: "scope" }),
      ],
      async check(flags, context) {
        rejectQuiet(context, "api_key");
        if (flags["scope"] !== undefined || flags["fullAccess"] === true) return;
        if (context.interactive) {
          const message = "Scopes of the key";
          flags["scope"] = await context.prompts.many({ message, flag: "--scope", choices: SCOPE_NAMES });
          return;
        }
        throw new UsageError("--scope or --full-access is required", {
          hint: "For example: --scope customers:read,orders:read. A key with --full-access has all scopes.",
        });
      },
      show: (key, context) => showSecret(context, "api_key", key, KEYS.view),
      examples: [
        "service keys create --name reports --scope customers:read,orders:read --expires-in 90d",
        "service keys create --name worker --scope customers:write --ip-allow 203.0.113.0/24 # Only from one network",
        "service keys create --name ci --scope listen:read --json --jq .key > key.txt # Store the key, which is shown once",
      ],
      usage: "(--scope <scopes> | --full-access) [options]",
    }),
    listVerb(KEYS, {
      filters: [],
      examples: ["service keys list --json --jq '.[] | select(.last_used == null) | .id' # Keys that were never used"],
    }),
    getVerb(KEYS),
    updateVerb("api_key", KEYS, {
      about: "Update the name, scopes, addresses or expiry of an API key",
      examples: [
        `service keys update ${KEYS.exampleId} --name reports`,
        `service keys update ${KEYS.exampleId} --scope customers:read,orders:read --expires-in 30d # Replace its scopes`,
        `service keys update ${KEYS.exampleId} --ip-allow any # Allow every address again`,
      ],
    }),
    {
      name: "revoke",
      about: "Revoke an API key, effective immediately",
      args: [idOperand("key")],
      options: [YES_IN_LIVE],
      dryRun: true,
      fields: KEYS.view,
      examples: [`service keys revoke ${KEYS.exampleId}`],
      async run(context: Context, id: string, { yes }: { yes?: true }) {
        const revoked = await endKey(context, { id, verb: "revoke", yes });
        context.output.success(`Revoked API key ${id}`);
        await context.output.object(revoked, KEYS.view);
        const { credential } = await context.connection();
        const own = credential?.value.type === "api_key" ? credential.value.api_key : undefined;
        if (own?.startsWith(revoked.prefix) && own.endsWith(revoked.last4) && !context.globals.dryRun) {
          context.output.warn(
            "This command used the revoked key. To use another one: service login, or SERVICE_API_KEY",
          );
        }
      },
    },
    {
      name: "rotate",
      formerly: ["roll"],
      about: "Replace an API key with a new one of the same permissions; the old key is revoked",
      args: [idOperand("key")],
      options: [YES_IN_LIVE],
      dryRun: true,
      fields: withSecret("api_key", KEYS.view),
      examples: [
        `service keys rotate ${KEYS.exampleId}`,
        `service keys rotate ${KEYS.exampleId} --json --jq .key > key.txt # Store the new key, which is shown once`,
      ],
      async run(context: Context, id: string, { yes }: { yes?: true }) {
        rejectQuiet(context, "api_key");
        const rolled = await endKey(context, { id, verb: "roll", yes });
        context.output.success(`Revoked API key ${id} and created ${rolled.id} in its place`);
        await showSecret(context, "api_key", rolled, KEYS.view);
      },
    },
    {
      name: "scan",
      about:
        "Scan files or a git repository for API keys, tokens and client secrets. Works offline: checksums identify real credentials. Exits with 1 if one is found.",
      summary: "Scan files or a git repository for leaked keys",
      args: [{ arg: "[path]", about: "File or folder (default: current folder)" }],
      options: [
        flag("--staged", "Scan the staged changes"),
        flag("--history", "Scan all commits, messages, tags and names of the repository"),
        flag("--revoke", "Revoke each credential that is found"),
        flag("--yes", "Skip the confirmation before live credentials are revoked"),
      ],
      notes: `
As a pre-commit hook, in .git/hooks/pre-commit (an executable file):
  #!/bin/sh
  exec service keys scan --staged

Folders: binary files over 1 MB and .git are skipped. Repositories: programs
that the repository's configuration names are not run, and nothing is fetched.
Signing secrets (whsec_…) have no checksum and are not detected.`,
      fields: documentView<FindingEntry>("finding", [
        "path",
        "line",
        "commit",
        "kind",
        "environment",
        "credential",
        "outcome",
      ]),
      examples: [
        "service keys scan",
        "service keys scan --staged # Before a commit",
        "service keys scan ~/src/shop --history --revoke # All commits; revoke what is found",
      ],
      load: async () => (await import("./scan/run.ts")).runScan,
    },
  ],
};

/** Revokes the named key, after a confirmation in live mode. */
async function endKey(
  context: Context,
  { id, verb, yes }: { id: string; verb: "revoke" | "roll"; yes: boolean | undefined },
): Promise<ApiKey> {
  const consequence = `The API key ${id} will stop working immediately`;
  await confirmDestruction(context, { id, path: KEYS.path, consequence, yes });
  return await callVerb<ApiKey>(context, KEYS, { id, verb });
}
