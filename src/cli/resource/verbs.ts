import { type Command, InvalidArgumentError } from "commander";
import { memberNamesOf } from "../../client/response-check.ts";
import { apiPath, type QueryValue } from "../../client/base-url.ts";
import { ApiError, orIfFailed } from "../../client/errors.ts";
import { listItems } from "../../client/pages.ts";
import { LIMITS } from "../../contract/limits.ts";
import { objectId, pointInTime, wholeNumber } from "../arguments/values.ts";
import { type CommandDefinition, type Flag, flag, type Operand, optionOf } from "../command.ts";
import type { Context } from "../context.ts";
import { EnvironmentClock, resolveTime } from "../environment-time.ts";
import { UsageError, UserError } from "../errors.ts";
import { pluralOf, type ResourceView } from "../terminal/view.ts";
import { withArticle } from "../../contract/resources.ts";
import type { Resource } from "./resource.ts";

const DEFAULT_LIMIT = 20;
/** The query parameters of the flags for times. */
const TIMES: Readonly<Record<string, string>> = { since: "created_after", until: "created_before" };

interface ListDescription<Item> {
  filters: readonly Flag[];
  examples: readonly string[];
  /** Flags besides the filters. */
  options?: readonly Flag[];
  /** Returns which items are hidden, unless the flags ask for them, and a note about it. */
  hiding?: (flags: Record<string, unknown>) => { isHidden: (item: Item) => boolean; note: string } | undefined;
  /** Called with the listed items once all are printed. */
  review?: (items: readonly Item[], context: Context) => void;
}

interface ListFlags extends Record<string, QueryValue> {
  limit: number;
  all?: true;
}

/**
 * `list`, newest first, with the filters of the resource. Each flag has the query parameter's name, with dashes, except
 * those of times.
 */
export function listVerb<Item extends object>(
  { path, view, isInRealTime }: Resource<Item>,
  { filters, examples, options = [], hiding, review }: ListDescription<Item>,
): CommandDefinition {
  return {
    name: "list",
    about: `List ${pluralOf(view)}, newest first`,
    options: [
      ...filters,
      ...options,
      flag("--limit <count>", "Maximum number of items", { parse: wholeNumber(1), default: DEFAULT_LIMIT }),
      flag("--all", "List all items", { conflicts: "limit" }),
    ],
    fields: view,
    examples,
    async run(context: Context, flags: ListFlags, list: Command) {
      const client = await context.client();
      const query: Record<string, QueryValue> = {};
      for (const filter of filters) {
        const option = optionOf(filter);
        const value = flags[option.attributeName()];
        const isTime = filter.parse === pointInTime && typeof value === "string";
        const parameter = TIMES[option.name()] ?? option.name().replaceAll("-", "_");
        query[parameter] = isTime ? await resolveTime(value, context, { isInRealTime: isInRealTime === true }) : value;
      }
      const clock = new EnvironmentClock(context);
      const reading = isInRealTime ? Promise.resolve() : clock.readForTerminal();
      let isCut = false;
      const hidden = hiding?.(flags);
      let hasHidden = false;
      const items = listItems<Item>(client, path, {
        query,
        max: flags.all ? Infinity : flags.limit,
        keep:
          hidden &&
          ((item) => {
            const isHidden = hidden.isHidden(item);
            hasHidden ||= isHidden;
            return !isHidden;
          }),
        onCut: () => (isCut = true),
      });
      const listed: Item[] = [];
      await context.output.list(keeping(items, listed, reading), view, clock);
      // With an explicit limit, no note about it is needed.
      if (isCut && list.getOptionValueSource("limit") === "default") {
        context.output.notice(`Showing the newest ${flags.limit}. For more, pass --limit <count> or --all.`);
      }
      if (hidden !== undefined && hasHidden) context.output.note(hidden.note);
      review?.(listed, context);
      if (clock.notice !== undefined && listed.length > 0) context.output.note(clock.notice);
    },
  };
}

/** Adds the items to those received, and ends once the clock is read, which takes no longer. */
async function* keeping<Item>(
  items: AsyncIterable<Item>,
  received: Item[],
  reading: Promise<void>,
): AsyncGenerator<Item, void, undefined> {
  for await (const item of items) {
    received.push(item);
    yield item;
  }
  await reading;
}

/** Changes an object, prints a note with the past tense of the verb, and shows the object. */
export async function changeObject<Item extends object>(
  context: Context,
  { path, view }: Resource<Item>,
  { id, changes, done = "Updated" }: { id: string; changes: object; done?: string },
): Promise<void> {
  const body = await context.request<Item>({ method: "PATCH", path: path + apiPath`/${id}`, body: changes });
  context.output.success(`${done} ${view.noun} ${id}`);
  await context.output.object(body, view);
}

export const SEARCH: Flag = flag("--query <text>", "Filter by text in any value, or by IDs");

/** `--query`, `--since` and `--until`. */
export const SEARCH_FILTERS: readonly Flag[] = [
  SEARCH,
  flag("--since <time>", "Earliest creation time: a timestamp, a date, or an age such as 2h", {
    parse: pointInTime,
    formerly: "--created-after",
  }),
  flag("--until <time>", "Latest creation time, in the same formats", {
    parse: pointInTime,
    formerly: "--created-before",
  }),
];

/** The argument of a verb that acts on one object. */
export function idOperand(noun: string): Operand {
  return { arg: "<id>", about: `ID of the ${noun}`, parse: objectId };
}

/** `get <id>`. */
export function getVerb<Item extends object>(resource: Resource<Item>): CommandDefinition {
  const { command, exampleId, path, view, isInRealTime } = resource;
  return {
    name: "get",
    about: `Show ${withArticle(view.noun)}`,
    args: [idOperand(view.noun)],
    fields: view,
    examples: [`service ${command} get ${exampleId}`],
    async run(context: Context, id: string) {
      const clock = new EnvironmentClock(context);
      const reading = isInRealTime ? Promise.resolve() : clock.readForTerminal();
      const body = await context.request<Item>({ method: "GET", path: path + apiPath`/${id}` });
      await reading;
      await context.output.object(body, view, clock);
      if (clock.notice !== undefined) context.output.note(clock.notice);
    },
  };
}

/** Calls a verb of an object: `POST <path>/<id>/<verb>`. */
export async function callVerb<Result>(
  context: Context,
  { path }: { path: string },
  { id, verb, body = {}, ...more }: { id: string; verb: string; body?: object; idempotencyKey?: string | undefined },
): Promise<Result> {
  return await context.request<Result>({ method: "POST", path: path + apiPath`/${id}/${verb}`, body, ...more });
}

interface Action<Flags extends object> {
  /** The command's name and the last segment of the path. */
  verb: string;
  /** Returns the note after success: `Order ord_1 completed`. */
  done: (id: string) => string;
  about: string;
  options?: readonly Flag[];
  body?: (flags: Flags, context: Context) => Promise<object>;
}

/** A verb that changes one object by POST, such as `complete`. */
export function actionVerb<Item extends object, Flags extends object>(
  resource: Resource<Item>,
  { verb, done, about, options = [], body }: Action<Flags>,
): CommandDefinition {
  const { command, exampleId, view } = resource;
  return {
    name: verb,
    about,
    args: [idOperand(view.noun)],
    options: [...options, IDEMPOTENCY_KEY],
    dryRun: true,
    fields: view,
    examples: [`service ${command} ${verb} ${exampleId}`],
    async run(context: Context, id: string, flags: Flags & Idempotent) {
      const { idempotencyKey } = flags;
      const members = await body?.(flags, context);
      const changed = await callVerb<Item>(context, resource, { id, verb, body: members ?? {}, idempotencyKey });
      context.output.success(done(id));
      await context.output.object(changed, view);
    },
  };
}

/** The response of DELETE for every resource. */
export interface Deleted {
  id: string;
  object: string;
  deleted: true;
}

export const DELETED: ResourceView<Deleted> = {
  noun: "deletion",
  fields: memberNamesOf("DeletedCustomer"),
  details: [
    { label: "ID", text: ({ id }) => id },
    { label: "Deleted", text: ({ deleted }) => String(deleted) },
  ],
};

/** `delete <id>`, which asks for confirmation in live mode. */
export function deleteVerb<Item extends object>({ command, exampleId, path, view }: Resource<Item>): CommandDefinition {
  return {
    name: "delete",
    about: `Delete ${withArticle(view.noun)}`,
    args: [idOperand(view.noun)],
    options: [YES_IN_LIVE],
    dryRun: true,
    fields: DELETED,
    examples: [`service ${command} delete ${exampleId}`],
    async run(context: Context, id: string, { yes }: { yes?: true }) {
      await confirmDestruction(context, { id, path, consequence: `The ${view.noun} ${id} will be deleted`, yes });
      const body = await context.request<Deleted>({ method: "DELETE", path: path + apiPath`/${id}` });
      await showDeleted(context, `Deleted ${view.noun} ${id}`, body, DELETED);
    },
  };
}

/** Prints a note, which is enough for a person, or else the response. */
export async function showDeleted<Item extends object>(
  { output }: Context,
  note: string,
  body: Item,
  view: ResourceView<Item>,
): Promise<void> {
  output.success(note);
  if (output.json || output.quiet || output.chosen || !output.terminal) await output.object(body, view);
}

/** Skips what `confirmDestruction` asks. */
export const YES_IN_LIVE: Flag = flag("--yes", "Skip the confirmation in live mode");

/**
 * Asks for confirmation in live mode: the user types the ID. Without a terminal, `--yes` is required. A missing credential
 * and a missing object, at `path`, come before the question.
 */
export async function confirmDestruction(
  context: Context,
  named: { id: string; path?: string; consequence: string; yes: boolean | undefined; live?: boolean },
): Promise<void> {
  const { id, path, consequence, yes, live = context.globals.live } = named;
  if (!live || yes === true || context.globals.dryRun) return;
  if (path !== undefined) {
    await orIfFailed(context.request({ method: "GET", path: path + apiPath`/${id}` }), (error) => {
      // A credential that may change objects need not be allowed to read them.
      if (!(error instanceof ApiError && error.status === 403)) throw error;
    });
  }
  if (!context.interactive) {
    throw new UsageError(`${consequence} in live mode. Without a terminal, --yes is required`, {
      code: "confirmation_required",
    });
  }
  context.output.warn(`${consequence}. This is live mode, and this cannot be undone.`);
  const typed = await context.prompts.text({ message: `Type ${id} to continue:`, flag: "--yes" });
  if (typed.trim() !== id) throw new UserError("The ID does not match; nothing was changed", { code: "not_confirmed" });
}

/**
 * Returns true if a command of the sandbox asks for confirmation: on a terminal. A script is not asked. Throws UsageError
 * on a terminal whose user wants no questions.
 */
export function asks({ interactive, globals, env, stdin, stderr }: Context, yes: true | undefined): boolean {
  if (yes || globals.dryRun) return false;
  if (stdin.isTTY && stderr.isTTY && (!globals.input || env["SERVICE_NO_INPUT"])) {
    throw new UsageError("--yes is required with --no-input", { code: "confirmation_required" });
  }
  return interactive;
}

/** What `IDEMPOTENCY_KEY` sets. */
export interface Idempotent {
  idempotencyKey?: string;
}

/** The flag of every command that creates or changes by POST. */
export const IDEMPOTENCY_KEY: Flag = flag(
  "--idempotency-key <key>",
  "Idempotency key, so that a retried command takes effect once",
  { parse: parseIdempotencyKey },
);

/** Parses the flag's value: 1 to 255 visible ASCII characters, as the header allows. */
export function parseIdempotencyKey(text: string): string {
  if (/^[\x21-\x7e]+$/.test(text) && text.length <= LIMITS.idempotencyKeyLength) return text;
  throw new InvalidArgumentError(
    `Must be 1 to ${LIMITS.idempotencyKeyLength} printable ASCII characters without spaces.`,
  );
}
