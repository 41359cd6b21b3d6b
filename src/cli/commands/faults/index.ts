import { InvalidArgumentError } from "commander";
import { apiPath } from "../../../client/base-url.ts";
import { ApiError } from "../../../client/errors.ts";
import { memberNamesOf } from "../../../client/response-check.ts";
import { LIMITS } from "../../../contract/limits.ts";
import { pathOf } from "../../../contract/resources.ts";
import type { Fault, FaultCreate, FaultList } from "../../../contract/schemas/fault.ts";
import { counted } from "../../../contract/words.ts";
import { objectId, parseFile, parseTimeout, wholeNumber } from "../../arguments/values.ts";
import { type CommandDefinition, flag } from "../../command.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import type { ClientReport } from "./check/run.ts";
import { CREATED, CREATED_AT, ID } from "../../resource/columns.ts";
import { type Deleted, DELETED, type Idempotent, IDEMPOTENCY_KEY, showDeleted } from "../../resource/verbs.ts";
import { type Column, documentView, type ResourceView } from "../../terminal/view.ts";

const FAULTS = pathOf("fault");
/** How often this CLI repeats a request that may be repeated. */
const OWN_RETRIES = 3;
const MAX_SEED = 4_294_967_295;
const EXAMPLE_ID = "flt_4Vf8aTqz0bKm2sNw9XyRcd";

const COLUMNS: Column<Fault>[] = [
  ID,
  { label: "Request", text: ({ match: { method, path } }) => (method === null ? path : `${method} ${path}`) },
  { label: "Effect", text: describeEffect },
  { label: "Rate", text: ({ rate }) => String(rate) },
  { label: "Injected", text: ({ injected, times }) => (times === null ? String(injected) : `${injected} of ${times}`) },
];
const FAULT: ResourceView<Fault> = {
  noun: "fault",
  fields: memberNamesOf("Fault"),
  columns: [...COLUMNS, CREATED],
  details: [...COLUMNS, CREATED_AT],
};

/** The response contains the removed faults. */
const CLEARED = documentView<FaultList>("list", ["object", "data"]);

type Status = NonNullable<FaultCreate["status"]>;
const STATUSES = ["429", "500", "502", "503"] satisfies `${Status}`[];

interface AddFlags extends Idempotent {
  status?: string;
  delay?: number;
  disconnect?: true;
  loseResponse?: true;
  truncate?: true;
  rate?: number;
  times?: number;
}

/** `service faults`. */
export const command: CommandDefinition = {
  name: "faults",
  about: "Make requests to the sandbox fail, to test how a client handles it",
  examples: [
    "service faults add 'POST /v1/orders*' --status 503 --times 5 # Fail the next five requests",
    "service faults add 'POST /v1/orders' --lose-response # Create the order, but close the connection",
    "service faults clear",
  ],
  sandboxOnly: "Only the sandbox has faults",
  commands: [
    {
      name: "add",
      about: "Add a fault to the sandbox. The first one that matches a request applies to it.",
      summary: "Add a fault",
      args: [
        {
          arg: "<request>",
          about: "Method and path, such as 'POST /v1/orders*'; a path alone for every method",
          parse: parseMatch,
        },
      ],
      options: [
        flag("--status <code>", "Respond with this error", { choices: STATUSES }),
        flag("--delay <duration>", "Handle the request after this time, up to 60s", { parse: parseTimeout }),
        flag("--disconnect", "Close the connection before the request has an effect"),
        flag("--lose-response", "Close the connection after the request took effect, without a response"),
        flag("--truncate", "Close the connection after half of the response's body"),
        flag("--rate <number>", "Fraction of matching requests that fail, from 0 to 1 (default: 1)", {
          parse: parseRate,
        }),
        flag("--times <number>", "Maximum number of requests (default: no limit)", {
          parse: wholeNumber(1, LIMITS.maxFaultTimes),
        }),
        IDEMPOTENCY_KEY,
      ],
      dryRun: true,
      fields: FAULT,
      examples: [
        "service faults add 'POST /v1/orders*' --status 503 --times 5 # Fail the next five requests",
        "service faults add 'GET /v1/customers/{id}' --delay 2s --rate 0.2 # Delay one request in five",
        "service faults add 'POST /v1/payments' --lose-response --times 1 # Create the payment, but close the connection",
      ],
      run: runAdd,
    },
    {
      name: "list",
      about: "List the faults, in the order in which they are tried",
      fields: FAULT,
      examples: ["service faults list", "service faults list --json --jq '.[].injected' # Number of failed requests"],
      async run(context: Context) {
        const body = await context.request<FaultList>({ method: "GET", path: FAULTS });
        await context.output.list(body.data, FAULT);
      },
    },
    {
      name: "remove",
      about: "Remove a fault",
      args: [{ arg: "<id>", about: "ID of the fault", parse: objectId }],
      dryRun: true,
      fields: DELETED,
      examples: [`service faults remove ${EXAMPLE_ID}`],
      async run(context: Context, id: string) {
        const body = await context.request<Deleted>({ method: "DELETE", path: FAULTS + apiPath`/${id}` });
        await showDeleted(context, `Removed fault ${id}`, body, DELETED);
      },
    },
    {
      name: "clear",
      about: "Remove all faults",
      dryRun: true,
      fields: CLEARED,
      examples: ["service faults clear"],
      run: runClear,
    },
    {
      name: "check",
      about: "Grade how your client handles failing requests: run it against an empty platform with faults",
      summary: "Grade how a client handles faults",
      usage: "[options] -- command...",
      args: [{ arg: "[command...]", about: "Command to run, after --, with SERVICE_BASE_URL and SERVICE_API_KEY" }],
      options: [
        flag("--seed <number>", "Seed of the faults, to repeat them (default: random)", {
          parse: wholeNumber(0, MAX_SEED),
        }),
        flag("--runs <number>", "How often to run the command, each time with different faults", {
          parse: wholeNumber(1, 100),
          default: 3,
        }),
        flag("--junit <file>", "File to write a JUnit report to", { parse: parseFile }),
      ],
      fields: documentView<ClientReport>("report", [
        "object",
        "command",
        "seed",
        "runs",
        "requests",
        "faults",
        "passed",
        "grade",
        "verdict",
        "counts",
        "duration_ms",
        "checks",
      ]),
      notes: `
Runs the command with different faults of the requests that it sends, and judges
from the platform's log whether it retries what is safe to repeat, with waits
and within limits, and creates nothing twice.
Grades: A if it handles every fault, B if some checks could not run, C for one
broken rule, D for two, F for more, or if it creates an object twice.
`,
      examples: [
        "service faults check -- npm test # Run the tests once per fault",
        "service faults check --seed 7 --runs 1 --junit faults.xml -- node sync-orders.js # Repeat one run, with a report",
      ],
      load: async () => (await import("./check/run.ts")).runCheck,
    },
  ],
};

async function runAdd(context: Context, match: FaultCreate["match"], flags: AddFlags): Promise<void> {
  const body = { match, ...effectOf(flags), rate: flags.rate, times: flags.times };
  const client = await context.client();
  const { idempotencyKey } = flags;
  const created = await client
    .request<Fault>({ method: "POST", path: FAULTS, body, idempotencyKey })
    .catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      const { nameOf } = error;
      // The request is one argument, and two fields of the API.
      error.nameOf = (pointer) => (pointer.startsWith("/match/") ? "request" : nameOf(pointer));
      throw error;
    });
  context.output.success(`Added fault ${created.body.id}`);
  // Otherwise, the first command that is tried would succeed.
  if (flags.times !== undefined && flags.times <= OWN_RETRIES && !context.output.json) {
    context.output.notice(
      `This CLI retries a failed request ${OWN_RETRIES} times, which uses up the fault: try it with your own client.`,
    );
  }
  await context.output.object(created.body, FAULT);
}

async function runClear(context: Context): Promise<void> {
  const { output } = context;
  const body = await context.request<FaultList>({ method: "DELETE", path: FAULTS });
  const { length } = body.data;
  const done = length === 0 ? "There were no faults" : `Removed ${counted(length, "fault")}`;
  output.success(done);
  if (output.json || output.chosen) await output.object(body, CLEARED);
  else if (output.quiet || !output.terminal) await output.list(body.data, FAULT);
}

/** Parses `POST /v1/orders*`, or a path alone. */
function parseMatch(text: string): FaultCreate["match"] {
  const [, method, path] = /^(?:([A-Za-z]+) +)?(\/\S*)$/.exec(text.trim()) ?? [];
  if (path === undefined) throw new InvalidArgumentError("Must be a method and a path, such as 'POST /v1/orders*'.");
  return {
    path,
    ...(method === undefined ? {} : { method: method.toUpperCase() as NonNullable<FaultCreate["match"]["method"]> }),
  };
}

function parseRate(text: string): number {
  const rate = Number(text);
  if (/^\d*\.?\d+$/.test(text) && rate <= 1) return rate;
  throw new InvalidArgumentError("Must be a number from 0 to 1, such as 0.2.");
}

const EFFECT_FLAGS = "--status, --delay, --disconnect, --lose-response or --truncate";

/** Returns the one effect of the flags. Throws UsageError for none and for several. */
function effectOf(flags: AddFlags): Pick<FaultCreate, "effect" | "status" | "delay_ms"> {
  const effects: Pick<FaultCreate, "effect" | "status" | "delay_ms">[] = [];
  if (flags.status !== undefined) effects.push({ effect: "status", status: Number(flags.status) as Status });
  if (flags.delay !== undefined) effects.push({ effect: "delay", delay_ms: flags.delay });
  if (flags.disconnect) effects.push({ effect: "disconnect" });
  if (flags.loseResponse) effects.push({ effect: "lose_response" });
  if (flags.truncate) effects.push({ effect: "truncate" });
  const [effect, second] = effects;
  if (effect === undefined) throw new UsageError("No effect specified", { hint: `Pass one of ${EFFECT_FLAGS}.` });
  if (second !== undefined) throw new UsageError("A fault has one effect", { hint: `Pass one of ${EFFECT_FLAGS}.` });
  return effect;
}

function describeEffect({ effect, status, delay_ms: delay }: Fault): string {
  if (effect === "status") return `status ${status}`;
  return effect === "delay" ? `delay ${delay} ms` : effect.replaceAll("_", " ");
}
