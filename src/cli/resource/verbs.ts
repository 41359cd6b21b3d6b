import { type Command, InvalidArgumentError, Option } from "commander";
import { memberNamesOf } from "../../client/response-check.ts";
import { apiPath, type QueryValue } from "../../client/base-url.ts";
import { listItems } from "../../client/pages.ts";
import { LIMITS } from "../../contract/limits.ts";
import { objectId, pointInTime, wholeNumber } from "../arguments/values.ts";
import type { Context } from "../context.ts";
import { addDryRun } from "../dry-run.ts";
import { resolveTime } from "../environment-time.ts";
import { UsageError, UserError } from "../errors.ts";
import { addExamples, addFields } from "../help-layout.ts";
import type { ResourceView } from "../terminal/view.ts";
import { withArticle } from "../../contract/resources.ts";
import type { Resource } from "./resource.ts";

const DEFAULT_LIMIT = 20;

interface ListDescription<Item> {
  filters: readonly Option[];
  examples: readonly string[];
  /** Called with the listed items once all are printed. */
  review?: (items: readonly Item[]) => void;
}

/**
 * `list`, newest first, with the filters of the resource. Each option has the query parameter's name, with dashes, except
 * `--since`, which is `created_after`.
 */
export function registerList<Item extends object>(
  group: Command,
  context: Context,
  resource: Resource<Item>,
  { filters, examples, review }: ListDescription<Item>,
): void {
  const list = group.command("list").description(`List ${resource.view.plural}, newest first`);
  for (const filter of filters) list.addOption(filter);
  list
    .addOption(
      new Option("--limit <count>", "Maximum number of items").argParser(wholeNumber(1)).default(DEFAULT_LIMIT),
    )
    .addOption(new Option("--all", "List all items").conflicts("limit"))
    .action(async (flags: { limit: number; all?: true } & Record<string, QueryValue>) => {
      const client = await context.client();
      const query: Record<string, QueryValue> = {};
      for (const filter of filters) {
        const value = flags[filter.attributeName()];
        const isTime = filter.parseArg === pointInTime && typeof value === "string";
        query[parameterOf(filter)] = isTime ? await resolveTime(value, client, context) : value;
      }
      let isCut = false;
      const items = listItems<Item>(client, resource.path, {
        query,
        max: flags.all ? Infinity : flags.limit,
        onCut: () => (isCut = true),
      });
      const listed: Item[] = [];
      await context.output.list(keeping(items, listed), resource.view);
      // With an explicit limit, no note about it is needed.
      if (isCut && list.getOptionValueSource("limit") === "default") {
        context.output.notice(`Showing the newest ${flags.limit}. For more, pass --limit <count> or --all.`);
      }
      review?.(listed);
    });
  addExamples(addFields(list, resource.view), examples);
}

function parameterOf(filter: Option): string {
  return filter.name() === "since" ? "created_after" : filter.name().replaceAll("-", "_");
}

async function* keeping<Item>(items: AsyncIterable<Item>, received: Item[]): AsyncGenerator<Item, void, undefined> {
  for await (const item of items) {
    received.push(item);
    yield item;
  }
}

/** Creates an object, and prints a note. */
export async function createObject<Item extends { id: string }>(
  context: Context,
  { path, view }: Resource<Item>,
  body: object,
  idempotencyKey: string | undefined,
): Promise<Item> {
  const client = await context.client();
  const { body: created } = await client.request<Item>({ method: "POST", path, body, idempotencyKey });
  context.output.success(`Created ${view.noun} ${created.id}`);
  return created;
}

/** Changes an object, prints a note with the past tense of the verb, and shows the object. */
export async function changeObject<Item extends object>(
  context: Context,
  { path, view }: Resource<Item>,
  { id, changes, done = "Updated" }: { id: string; changes: object; done?: string },
): Promise<void> {
  const client = await context.client();
  const { body } = await client.request<Item>({ method: "PATCH", path: path + apiPath`/${id}`, body: changes });
  context.output.success(`${done} ${view.noun} ${id}`);
  await context.output.object(body, view);
}

/** `--query`. */
export function searchOption(): Option {
  return new Option("--query <text>", "Filter by text in any value: an ID, email, name, amount or metadata");
}

/** `--query`, `--created-after` and `--created-before`. */
export function searchFilters(): Option[] {
  return [
    searchOption(),
    new Option("--created-after <time>", "Earliest creation time: a timestamp, a date, or an age such as 2h").argParser(
      pointInTime,
    ),
    new Option("--created-before <time>", "Latest creation time, in the same formats").argParser(pointInTime),
  ];
}

/** `get <id>`. */
export function registerGet<Item extends object>(group: Command, context: Context, resource: Resource<Item>): void {
  const { command, exampleId, path, view } = resource;
  const get = group
    .command("get")
    .description(`Show ${withArticle(view.noun)}`)
    .argument("<id>", `ID of the ${view.noun}`, objectId)
    .action(async (id: string) => {
      const client = await context.client();
      const { body } = await client.request<Item>({ method: "GET", path: path + apiPath`/${id}` });
      await context.output.object(body, view);
    });
  addExamples(addFields(get, view), [
    `service ${command} get ${exampleId}`,
    `service ${command} get ${exampleId} --json`,
  ]);
}

/** Calls a verb of an object: `POST <path>/<id>/<verb>`. */
export async function callVerb<Result>(
  context: Context,
  { path }: { path: string },
  {
    id,
    verb,
    body = {},
    idempotencyKey,
  }: { id: string; verb: string; body?: object; idempotencyKey?: string | undefined },
): Promise<Result> {
  const client = await context.client();
  const request = { method: "POST", path: path + apiPath`/${id}/${verb}`, body, idempotencyKey } as const;
  return (await client.request<Result>(request)).body;
}

interface Action<Flags extends object> {
  /** The command's name and the last segment of the path. */
  verb: string;
  /** Returns the note after success: `Order ord_1 completed`. */
  done: (id: string) => string;
  description: string;
  options?: readonly Option[];
  body?: (flags: Flags) => Promise<object>;
}

/** Adds a verb that changes one object by POST, such as `complete`. */
export function registerAction<Item extends object, Flags extends object>(
  group: Command,
  context: Context,
  resource: Resource<Item>,
  { verb, done, description, options = [], body }: Action<Flags>,
): void {
  const { command, exampleId, view } = resource;
  const action = group.command(verb).description(description).argument("<id>", `ID of the ${view.noun}`, objectId);
  for (const option of options) action.addOption(option);
  addIdempotencyKey(action).action(async (id: string, flags: Flags & { idempotencyKey?: string }) => {
    const { idempotencyKey } = flags;
    const changed = await callVerb<Item>(context, resource, {
      id,
      verb,
      body: (await body?.(flags)) ?? {},
      idempotencyKey,
    });
    context.output.success(done(id));
    await context.output.object(changed, view);
  });
  addExamples(addFields(action, view), [`service ${command} ${verb} ${exampleId}`]);
}

/** The response of DELETE for every resource. */
interface Deleted {
  id: string;
  object: string;
  deleted: true;
}

const DELETED: ResourceView<Deleted> = {
  noun: "deletion",
  plural: "deletions",
  fields: memberNamesOf("DeletedCustomer"),
  columns: [],
  details: [
    { label: "ID", text: ({ id }) => id },
    { label: "Deleted", text: ({ deleted }) => String(deleted) },
  ],
};

/** `delete <id>`, which asks for confirmation in live mode. */
export function registerDelete<Item extends object>(group: Command, context: Context, resource: Resource<Item>): void {
  const { command, exampleId, path, view } = resource;
  const remove = group
    .command("delete")
    .description(`Delete ${withArticle(view.noun)}`)
    .argument("<id>", `ID of the ${view.noun}`, objectId)
    .option("--yes", "Skip the confirmation in live mode")
    .action(async (id: string, { yes }: { yes?: true }) => {
      await confirmDestruction(context, { id, consequence: `The ${view.noun} ${id} will be deleted`, yes });
      const client = await context.client();
      const { body } = await client.request<Deleted>({ method: "DELETE", path: path + apiPath`/${id}` });
      context.output.success(`Deleted ${view.noun} ${id}`);
      await context.output.object(body, DELETED);
    });
  addExamples(addDryRun(addFields(remove, DELETED)), [`service ${command} delete ${exampleId}`]);
}

/** Asks for confirmation in live mode: the user types the ID. Without a terminal, `--yes` is required. */
export async function confirmDestruction(
  context: Context,
  {
    id,
    consequence,
    yes,
    live = context.globals.live,
  }: { id: string; consequence: string; yes: boolean | undefined; live?: boolean },
): Promise<void> {
  if (!live || yes === true || context.globals.dryRun) return;
  if (!context.interactive) {
    throw new UsageError(`${consequence} in live mode. Without a terminal, --yes is required`, {
      code: "confirmation_required",
    });
  }
  context.output.warn(`${consequence}. This is the live environment, and this cannot be undone.`);
  const typed = await context.prompts.text({ message: `Type ${id} to continue:`, flag: "--yes" });
  if (typed.trim() !== id) throw new UserError("The ID does not match; nothing was changed", { code: "not_confirmed" });
}

/** `--idempotency-key` and `--dry-run` of every command that creates or changes by POST. */
export function addIdempotencyKey(command: Command): Command {
  const description = "Idempotency key, so that a retried command takes effect once";
  return addDryRun(command.option("--idempotency-key <key>", description, parseIdempotencyKey));
}

/** Parses the flag's value: 1 to 255 visible ASCII characters, as the header allows. */
export function parseIdempotencyKey(text: string): string {
  if (/^[\x21-\x7e]+$/.test(text) && text.length <= LIMITS.idempotencyKeyLength) return text;
  throw new InvalidArgumentError(
    `Must be 1 to ${LIMITS.idempotencyKeyLength} printable ASCII characters without spaces.`,
  );
}
