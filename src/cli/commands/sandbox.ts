import type { Command } from "commander";
import { memberNamesOf } from "../../client/response-check.ts";
import { apiPath } from "../../client/base-url.ts";
import type { Sandbox, SandboxReset, Snapshot, SnapshotCreate, SnapshotList } from "../../contract/schemas/sandbox.ts";
import type { Context } from "../context.ts";
import { UsageError, UserError } from "../errors.ts";
import { addExamples, addFields } from "../help-layout.ts";
import { formatSpan } from "../terminal/time.ts";
import type { ResourceView } from "../terminal/view.ts";
import { CREATED, CREATED_AT } from "../resource/columns.ts";
import { addIdempotencyKey } from "../resource/verbs.ts";

const SNAPSHOTS = "/v1/sandbox/snapshots";

/** `service sandbox`. */
export function register(program: Command, context: Context): void {
  const sandbox = program
    .command("sandbox")
    .description("Start the sandbox again, and keep named states of it. Keys, apps and listeners stay.")
    .hook("preAction", () => {
      if (context.globals.live) throw new UsageError("The live environment is never reset", { hint: "Remove --live." });
    });
  addExamples(sandbox, ["service sandbox reset --yes", "service sandbox save empty", "service sandbox restore empty"]);
  registerReset(sandbox, context);
  registerSave(sandbox, context);
  registerRestore(sandbox, context);
  const list = sandbox
    .command("list")
    .description("List the saved states")
    .action(async () => {
      const client = await context.client();
      const { body } = await client.request<SnapshotList>({ method: "GET", path: SNAPSHOTS });
      await context.output.list(body.data, SNAPSHOT);
    });
  addExamples(addFields(list, SNAPSHOT), ["service sandbox list"]);
  const remove = sandbox
    .command("delete")
    .description("Delete a saved state")
    .argument("<name>", "Name of the state")
    .action(async (name: string) => {
      const client = await context.client();
      const { body } = await client.request<Snapshot>({ method: "DELETE", path: SNAPSHOTS + apiPath`/${name}` });
      context.output.success(`Deleted the state ${name}`);
      await context.output.object(body, SNAPSHOT);
    });
  addExamples(addFields(remove, SNAPSHOT), ["service sandbox delete empty"]);
}

interface ResetFlags {
  removeEndpoints?: true;
  yes?: true;
  idempotencyKey?: string;
}

function registerReset(sandbox: Command, context: Context): void {
  const reset = sandbox
    .command("reset")
    .description("Start the sandbox again, in real time: without objects, events, deliveries and logs")
    .option("--remove-endpoints", "Remove the webhook endpoints, too")
    .option("--yes", "Do not ask");
  addIdempotencyKey(reset).action(async ({ removeEndpoints, yes, idempotencyKey }: ResetFlags) => {
    const what = removeEndpoints ? "all data and endpoints" : "all data";
    await confirm(context, `Remove ${what} of the sandbox? (y/N)`, yes);
    const client = await context.client();
    const { body } = await client.request<Sandbox>({
      method: "POST",
      path: "/v1/sandbox/reset",
      body: { endpoints: removeEndpoints ? "remove" : "keep" } satisfies SandboxReset,
      idempotencyKey,
    });
    context.output.success("The sandbox is empty and in real time");
    await context.output.object(body, SANDBOX);
  });
  addExamples(addFields(reset, SANDBOX), ["service sandbox reset", "service sandbox reset --remove-endpoints --yes"]);
}

function registerSave(sandbox: Command, context: Context): void {
  const save = sandbox
    .command("save")
    .description("Save the objects, endpoints and time of the sandbox, in place of an earlier state of that name")
    .argument("<name>", "Name of the state");
  addIdempotencyKey(save).action(async (name: string, { idempotencyKey }: { idempotencyKey?: string }) => {
    const client = await context.client();
    const { body } = await client.request<Snapshot>({
      method: "POST",
      path: SNAPSHOTS,
      body: { name } satisfies SnapshotCreate,
      idempotencyKey,
    });
    context.output.success(`Saved the sandbox as ${name}`);
    await context.output.object(body, SNAPSHOT);
  });
  addExamples(addFields(save, SNAPSHOT), ["service sandbox save two-customers"]);
}

function registerRestore(sandbox: Command, context: Context): void {
  const restore = sandbox
    .command("restore")
    .description("Replace the sandbox by a saved state, with the same IDs and secrets, and without events")
    .argument("<name>", "Name of the state")
    .option("--yes", "Do not ask");
  addIdempotencyKey(restore).action(async (name: string, { yes, idempotencyKey }: Omit<ResetFlags, "remove">) => {
    await confirm(context, `Replace all data of the sandbox by ${name}? (y/N)`, yes);
    const client = await context.client();
    const path = `${SNAPSHOTS}${apiPath`/${name}`}/restore`;
    const { body } = await client.request<Sandbox>({ method: "POST", path, idempotencyKey });
    context.output.success(`Restored the sandbox to ${name}`);
    await context.output.object(body, SANDBOX);
  });
  addExamples(addFields(restore, SANDBOX), ["service sandbox restore two-customers --yes"]);
}

/** Asks on a terminal. Throws UserError if the user declines. */
async function confirm(context: Context, message: string, yes: true | undefined): Promise<void> {
  if (yes || !context.interactive || context.globals.dryRun) return;
  const typed = await context.prompts.text({ message, flag: "--yes" });
  if (!/^y(es)?$/i.test(typed.trim())) throw new UserError("Nothing was changed", { code: "not_confirmed" });
}

const SANDBOX: ResourceView<Sandbox> = {
  noun: "sandbox",
  plural: "sandboxes",
  fields: memberNamesOf("Sandbox"),
  columns: [],
  details: [
    { label: "Reset at", text: ({ reset_at: at }) => at },
    { label: "State", text: ({ snapshot }) => snapshot ?? "empty" },
  ],
};

const SNAPSHOT: ResourceView<Snapshot> = {
  noun: "state",
  plural: "states",
  fields: memberNamesOf("Snapshot"),
  columns: [
    { label: "Name", text: ({ name }) => name },
    { label: "Objects", text: ({ objects }) => String(objects) },
    CREATED,
  ],
  details: [
    { label: "Name", text: ({ name }) => name },
    { label: "Objects", text: ({ objects }) => String(objects) },
    {
      label: "Time",
      text: ({ offset_seconds: offset }) => (offset === 0 ? "real time" : `real time + ${formatSpan(offset)}`),
    },
    CREATED_AT,
  ],
};
