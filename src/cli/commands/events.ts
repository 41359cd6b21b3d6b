import { memberNamesOf } from "../../client/response-check.ts";
import { EVENT_TYPES, matchesSubscriptions } from "../../contract/event-types.ts";
import type { EventReplay, ListedEvent, Replay } from "../../contract/schemas/event.ts";
import { shellCommand } from "../../contract/shell-command.ts";
import { counted } from "../../contract/words.ts";
import { assertSubscriptions, objectId, parseSubscriptions } from "../arguments/values.ts";
import { type CommandDefinition, flag } from "../command.ts";
import type { Context } from "../context.ts";
import { UsageError, UserError } from "../errors.ts";
import { printable } from "../terminal/printable.ts";
import { clockTime } from "../terminal/traffic.ts";
import type { ResourceView } from "../terminal/view.ts";
import { assertOneOrMany, BULK_FIELDS, type BulkFlags, bulkFlags, runBulk } from "../resource/bulk.ts";
import type { Replays, Responses } from "../forwarding/forward-replay.ts";
import { followList } from "../resource/follow.ts";
import { EVENTS, objectOf } from "../resource/event-view.ts";
import { callVerb, getVerb, IDEMPOTENCY_KEY, listVerb, SEARCH_FILTERS } from "../resource/verbs.ts";

const REPLAY: ResourceView<Replay> = {
  noun: "replay",
  fields: memberNamesOf("Replay"),
  details: [
    { label: "Event", text: ({ event }) => event },
    {
      label: "Deliveries",
      text: ({ deliveries }, { terminal }) => (terminal ? deliveries.join(" ") || "none" : deliveries.join(",")),
    },
    { label: "Listeners", text: ({ listeners }) => String(listeners) },
  ],
};

const GAP = "  ";
const TYPE_WIDTH = Math.max(...EVENT_TYPES.map((type) => type.length));

interface ReplayFlags extends BulkFlags {
  forwardTo?: string;
}

/** `service events`. */
export const command: CommandDefinition = {
  name: "events",
  about: "List, follow and replay events",
  examples: ["service events list --type 'order.*' --since 1h", `service events replay ${EVENTS.exampleId}`],
  commands: [
    listVerb(EVENTS, {
      filters: [
        flag("--type <subscription>", `Filter by event type: ${EVENT_TYPES[4]}, 'order.*', or '*'`, {
          parse: (text) => assertSubscriptions([text])[0],
        }),
        flag("--related <id>", "Filter by object", { parse: objectId }),
        ...SEARCH_FILTERS,
      ],
      examples: [
        "service events list --type 'payment.*' # Events of one resource",
        "service events list --related ord_4Vf8aTqz0bKm2sNw9XyRcd # Events of one object",
        "service events list --json --jq '.[] | {id, type}'",
      ],
    }),
    getVerb(EVENTS),
    {
      name: "replay",
      about:
        "Replay one or more events of the last 30 days to endpoints and listeners. Exits with 1 if an event reaches no endpoint and no listener.",
      args: [{ arg: "[id]", about: "ID of the event", parse: objectId }],
      options: [
        flag("--failed", "Only events with failed deliveries, sent only to their endpoints and connected listeners"),
        flag("--missed", "Only events that the --endpoint subscribes to and has no delivery of", {
          conflicts: ["failed"],
        }),
        ...bulkFlags("events", "Replay to this webhook endpoint and to listeners only"),
        flag(
          "-f, --forward-to <target>",
          "Forward them to this URL, such as localhost:3000/webhooks, besides their endpoints and listeners",
        ),
        IDEMPOTENCY_KEY,
      ],
      dryRun: true,
      fields: REPLAY,
      fieldsWith: BULK_FIELDS,
      examples: [
        `service events replay ${EVENTS.exampleId}`,
        `service events replay ${EVENTS.exampleId} --endpoint we_4Vf8aTqz0bKm2sNw9XyRcd # To one endpoint`,
        `service events replay ${EVENTS.exampleId} --forward-to localhost:3000/webhooks # To this machine`,
        "service events replay --since 1h --type 'order.*' --failed # All order events whose deliveries failed in the last hour",
        "service events replay --failed --forward-to localhost:3000/webhooks # Everything that failed, to this machine",
      ],
      async run(context: Context, given: string | undefined, flags: ReplayFlags) {
        const ofMany =
          flags.since !== undefined || flags.until !== undefined || flags.failed === true || flags.missed === true;
        if (flags.missed === true && flags.endpoint === undefined) {
          throw new UsageError("--missed needs --endpoint: the endpoint that missed the events", {
            hint: "To list the endpoints: service endpoints list",
          });
        }
        const id = given ?? (context.interactive && !ofMany ? await askForEvent(context) : undefined);
        assertOneOrMany(id, flags, {
          ofMany,
          missing: "Pass an event ID, or --since, --failed or --missed",
          example: "service events replay --since 1h --failed",
        });
        return id === undefined ? runReplays(flags, context) : runReplay(id, flags, context);
      },
    },
    {
      name: "tail",
      about: "Follow events until Ctrl-C",
      options: [
        flag("--type <list>", "Only these event types, separated by commas: 'order.*,customer.created'", {
          parse: parseSubscriptions,
          formerly: "-e, --events",
        }),
      ],
      fields: EVENTS.view,
      examples: [
        "service events tail",
        "service events tail --type 'order.*,payment.failed'",
        "service events tail --json --jq '{id, type}' # One line of JSON per event",
      ],
      run: (context: Context, { type = ["*"] }: { type?: string[] }) => runTail(type, context),
    },
  ],
};

/** Events that are listed to choose from. */
const MAX_CHOICES = 20;

/** Asks which of the newest events is meant; undefined if there is none. */
async function askForEvent(context: Context): Promise<string | undefined> {
  const query = { limit: MAX_CHOICES };
  const { data } = await context.request<{ data: ListedEvent[] }>({ method: "GET", path: EVENTS.path, query });
  if (data.length === 0) return undefined;
  const choices = data.map(({ id, type }) => printable(`${id}  ${type}`));
  const message = "Event to replay (type to search)";
  const chosen = await context.prompts.one({ message, flag: "the event's ID", choices });
  return chosen.split(" ", 1)[0];
}

async function runReplay(id: string, flags: ReplayFlags, context: Context): Promise<void> {
  const { output } = context;
  const { endpoint, idempotencyKey, forwardTo } = flags;
  const body: EventReplay = endpoint === undefined ? {} : { endpoint };
  let replayed!: Replay;
  const replay = async () => {
    replayed = await callVerb<Replay>(context, EVENTS, { id, verb: "replay", body, idempotencyKey });
    return 1;
  };
  const { response, failure } = await forwarding({ target: forwardTo, id, replay }, context);
  const recipients = recipientsOf(replayed);
  // The response of a replay has no ID of its own, but its deliveries do.
  if (output.quiet && !output.json) {
    for (const delivery of replayed.deliveries) output.line(printable(delivery));
    if (recipients === "") throw await unreceived(id, context);
    if (failure !== undefined) throw failure;
    return;
  }
  if (recipients !== "") output.success(`Replayed ${id} to ${recipients}`);
  if (recipients !== "" || output.json) await output.object(replayed, REPLAY);
  if (recipients === "") throw await unreceived(id, context);
  if (response !== undefined) output.notice(response);
  if (failure !== undefined) throw failure;
  if (replayed.deliveries.length > 0) output.note(`\nSee the deliveries:\n  service deliveries list --event ${id}`);
}

/** Replays many events. */
async function runReplays(flags: ReplayFlags, context: Context): Promise<void> {
  const { failed, missed, forwardTo } = flags;
  const filters = { ...(failed === true && { status: "failed" as const }), ...(missed === true && { missed }) };
  const path = `${EVENTS.path}/replay`;
  const replay = () => runBulk({ kind: "event", path, verb: "Replay", filters, flags }, context);
  const { response, failure } = await forwarding({ target: forwardTo, replay }, context);
  if (response !== undefined) context.output.notice(response);
  if (failure !== undefined) throw failure;
}

/** Replays events and, if there is a target, forwards them to it. */
async function forwarding(
  { target, ...replays }: Omit<Replays, "target"> & { target: string | undefined },
  context: Context,
): Promise<Responses> {
  if (target !== undefined && !context.globals.dryRun) {
    const { forwardReplays } = await import("../forwarding/forward-replay.ts");
    return await forwardReplays({ target, ...replays }, context);
  }
  await replays.replay();
  return {};
}

function recipientsOf({ deliveries: { length: endpoints }, listeners }: Replay): string {
  const shown = (count: number, noun: string) => (count === 0 ? [] : [counted(count, noun)]);
  return [...shown(endpoints, "endpoint"), ...shown(listeners, "listener")].join(" and ");
}

/** Advises the target that `service why` does. */
async function unreceived(id: string, context: Context): Promise<UserError> {
  const { apiOf } = await import("../explanation.ts");
  const { readChain } = await import("../../explain/chain.ts");
  const { forwardOf } = await import("../../explain/listeners.ts");
  const { withExample } = await import("../../explain/diagnosis.ts");
  const chain = {
    ...(await readChain(apiOf(await context.client()), id, "event")),
    target: await context.projectTarget(),
  };
  const last = chain.deliveries.find(({ target }) => target !== null);
  const command = forwardOf({ event: id, type: chain.event?.type ?? "", target: last?.target ?? null }, chain);
  return new UserError(`No endpoint or listener received ${id}: there is none for its type`, {
    hint: `${withExample("Forward it to your application", command)}: ${command}\nSee what is missing: ${shellCommand`service why ${id}`}`,
    code: "no_receiver",
  });
}

async function runTail(subscriptions: readonly string[], context: Context): Promise<void> {
  const { output } = context;
  const print = output.stream(EVENTS.view, (event: ListedEvent) => eventLine(event, context));
  await followList<ListedEvent>(context, {
    path: EVENTS.path,
    query: { type: subscriptions.length === 1 ? subscriptions[0] : undefined },
    inCommitOrder: true,
    ready: `Following ${subscriptions.includes("*") ? "all events" : subscriptions.join(", ")}. Press Ctrl-C to stop.`,
    waiting: "Waiting for events",
    filter: (event) => matchesSubscriptions(subscriptions, event.type),
    print,
  });
}

/** On a narrow terminal, omits the object's ID and makes the column of the type smaller. */
function eventLine(event: ListedEvent, { output: { styles, width } }: Context): string {
  const time = clockTime(Date.parse(event.created));
  const id = printable(event.id);
  const room = width - [time, "", id].join(GAP).length;
  const type = printable(event.type).padEnd(Math.min(TYPE_WIDTH, room));
  const subject = printable(objectOf(event));
  const whole = [time, type, id, subject].join(GAP).length <= width;
  return [styles.dim(time), styles.strong(type), id, ...(whole ? [styles.dim(subject)] : [])].join(GAP);
}
