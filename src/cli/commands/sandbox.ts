import { memberNamesOf } from "../../client/response-check.ts";
import { apiPath } from "../../client/base-url.ts";
import type { Sandbox, SandboxReset, Snapshot, SnapshotCreate, SnapshotList } from "../../contract/schemas/sandbox.ts";
import { type CommandDefinition, type Flag, flag, type Operand } from "../command.ts";
import type { Context } from "../context.ts";
import { UserError } from "../errors.ts";
import { formatSpan } from "../terminal/time.ts";
import type { ResourceView } from "../terminal/view.ts";
import { CREATED, CREATED_AT, timeWithAge } from "../resource/columns.ts";
import { asks, type Idempotent, IDEMPOTENCY_KEY, showDeleted } from "../resource/verbs.ts";

const SNAPSHOTS = "/v1/sandbox/snapshots";

const viewOf = (label: string): ResourceView<Sandbox> => ({
  noun: "sandbox",
  fields: memberNamesOf("Sandbox"),
  details: [
    { label, text: ({ reset_at: at }, view) => timeWithAge(at, view) },
    { label: "Snapshot", text: ({ snapshot }) => snapshot ?? "none" },
  ],
});
const RESET = viewOf("Reset");
const RESTORED = viewOf("Restored");

const SNAPSHOT: ResourceView<Snapshot> = {
  noun: "snapshot",
  key: "name",
  fields: memberNamesOf("Snapshot"),
  columns: [
    { label: "Name", text: ({ name }) => name },
    { label: "Objects", text: ({ objects }) => String(objects), align: "right" },
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

interface ResetFlags extends Idempotent {
  removeEndpoints?: true;
  yes?: true;
}

const YES: Flag = flag("--yes", "Skip the confirmation on a terminal; without one, there is none in the sandbox");

const NAME: Operand = { arg: "<name>", about: "Name of the snapshot" };

/** `service sandbox`. */
export const command: CommandDefinition = {
  name: "sandbox",
  about:
    "Reset the sandbox, or save and restore snapshots of it. Keys, apps and listeners stay, and endpoints unless they are removed.",
  examples: ["service sandbox reset", "service sandbox save empty # Save the state", "service sandbox restore empty"],
  sandboxOnly: "Live mode is never reset",
  commands: [
    {
      name: "reset",
      about:
        "Empty the sandbox, and return to real time: objects, events, deliveries and logs are removed; keys, apps, endpoints and listeners stay",
      options: [flag("--remove-endpoints", "Remove the webhook endpoints, too"), YES, IDEMPOTENCY_KEY],
      dryRun: true,
      fields: RESET,
      examples: [
        "service sandbox reset",
        "service sandbox reset --remove-endpoints # Remove the endpoints, too",
        "service sandbox reset --yes # Without a question on a terminal",
      ],
      run: runReset,
    },
    {
      name: "save",
      about: "Save the objects, endpoints and time of the sandbox; replaces a snapshot of the same name",
      args: [NAME],
      options: [IDEMPOTENCY_KEY],
      dryRun: true,
      fields: SNAPSHOT,
      examples: ["service sandbox save two-customers"],
      run: runSave,
    },
    {
      name: "restore",
      about: "Replace the sandbox with a snapshot: the same IDs and secrets, and no events",
      args: [NAME],
      options: [YES, IDEMPOTENCY_KEY],
      dryRun: true,
      fields: RESTORED,
      examples: ["service sandbox restore two-customers"],
      run: runRestore,
    },
    {
      name: "list",
      about: "List snapshots",
      fields: SNAPSHOT,
      examples: ["service sandbox list"],
      async run(context: Context) {
        const body = await context.request<SnapshotList>({ method: "GET", path: SNAPSHOTS });
        await context.output.list(body.data, SNAPSHOT);
      },
    },
    {
      name: "delete",
      about: "Delete a snapshot",
      args: [NAME],
      dryRun: true,
      fields: SNAPSHOT,
      examples: ["service sandbox delete empty"],
      async run(context: Context, name: string) {
        const body = await context.request<Snapshot>({ method: "DELETE", path: SNAPSHOTS + apiPath`/${name}` });
        await showDeleted(context, `Deleted snapshot ${name}`, body, SNAPSHOT);
      },
    },
  ],
};

async function runReset(context: Context, { removeEndpoints, yes, idempotencyKey }: ResetFlags): Promise<void> {
  const what = removeEndpoints ? "objects, events, deliveries and endpoints" : "objects, events and deliveries";
  await confirm(context, `Remove all ${what} of the sandbox?`, yes);
  const body = await context.request<Sandbox>({
    method: "POST",
    path: "/v1/sandbox/reset",
    body: { endpoints: removeEndpoints ? "remove" : "keep" } satisfies SandboxReset,
    idempotencyKey,
  });
  const kept = removeEndpoints ? "keys, apps and listeners" : "keys, apps, endpoints and listeners";
  context.output.success(
    `All objects, events and deliveries are removed, and the sandbox clock is back to real time; ${kept} stay`,
  );
  await context.output.object(body, RESET);
}

async function runSave(context: Context, name: string, { idempotencyKey }: Idempotent): Promise<void> {
  const body = await context.request<Snapshot>({
    method: "POST",
    path: SNAPSHOTS,
    body: { name } satisfies SnapshotCreate,
    idempotencyKey,
  });
  context.output.success(`Saved the sandbox as ${name}`);
  await context.output.object(body, SNAPSHOT);
}

async function runRestore(context: Context, name: string, { yes, idempotencyKey }: ResetFlags): Promise<void> {
  if (asks(context, yes)) {
    const { data } = await context.request<SnapshotList>({ method: "GET", path: SNAPSHOTS });
    // The platform's error for an unknown name comes before the question.
    if (data.some((snapshot) => snapshot.name === name)) {
      await confirm(context, `Replace all data of the sandbox with ${name}?`, yes);
    }
  }
  const path = `${SNAPSHOTS}${apiPath`/${name}`}/restore`;
  const body = await context.request<Sandbox>({ method: "POST", path, idempotencyKey });
  context.output.success(`Restored the sandbox to ${name}`);
  await context.output.object(body, RESTORED);
}

/** Asks on a terminal. Throws UserError if the user declines. */
async function confirm(context: Context, message: string, yes: true | undefined): Promise<void> {
  if (!asks(context, yes)) return;
  const isConfirmed = await context.prompts.confirm({ message, flag: "--yes" });
  if (!isConfirmed) throw new UserError("Nothing was changed", { code: "not_confirmed" });
}
