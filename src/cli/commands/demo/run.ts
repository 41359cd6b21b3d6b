import { once } from "node:events";
import { rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Context } from "../../context.ts";
import type { Explanation } from "../../explanation.ts";
import { InterruptedError, isCtrlC, orAborted, SilentExit, UserError } from "../../errors.ts";
import { offerDriver } from "../../database/driver.ts";
import { killWithThisProcess, type ProcessGroup, startCommand } from "../../process/process-group.ts";
import { createTemporaryFolder } from "../../temporary-folder.ts";
import { wrapWords } from "../../terminal/wrap.ts";
import { nodeWebhook, type WebhookEvent } from "../../../webhooks/index.ts";

const STEP_SECONDS = 20;
const STOP_MS = 5000;

/** Results of the steps for later steps, and for the cleanup. */
interface Stage {
  context: Context;
  reporter: StepReporter;
  env: Record<string, string | undefined>;
  groups: ProcessGroup[];
  receiver?: Awaited<ReturnType<typeof startReceiver>>;
}

/**
 * Runs each step as a user would, with this CLI in separate processes, and relies only on what the receiver reports.
 * With `once` it exits after the last step; otherwise it runs until Ctrl-C.
 */
export async function runDemo(context: Context, { once }: { once: boolean }): Promise<void> {
  await offerDriver(context);
  const folder = createTemporaryFolder("service-demo-");
  // The demo must not act on a real profile, whatever the shell's environment.
  const others = Object.entries(context.env).filter(([name]) => !name.startsWith("SERVICE_"));
  const stage: Stage = {
    context,
    reporter: context.output.json ? jsonReporter(context) : humanReporter(context),
    env: { ...Object.fromEntries(others), SERVICE_CONFIG_DIR: folder },
    groups: [],
  };
  let isStopping = false;
  const release = killWithThisProcess(
    () => stage.groups.forEach((group) => group.kill()),
    () => isStopping,
  );
  try {
    const { baseUrl, signInUrl } = await runSteps(stage);
    if (once) return;
    stage.reporter.stayOpen({ baseUrl, signInUrl, folder });
    stage.receiver?.follow((event) => stage.reporter.arrived(event));
    await orAborted(new Promise<never>(() => {}), context.signal).catch((error: unknown) => {
      if (!isCtrlC(error)) throw error;
    });
  } finally {
    isStopping = true;
    await Promise.all(stage.groups.map((group) => group.stop("SIGTERM", STOP_MS)));
    release();
    await stage.receiver?.close();
    rmSync(folder, { recursive: true, force: true });
  }
  context.output.note("Stopped the demo and deleted its data.");
}

async function runSteps(stage: Stage): Promise<{ baseUrl: string; signInUrl: string }> {
  const { reporter } = stage;
  let secret = "";

  const platform = await step(stage, "Platform", "service serve --ephemeral --port 0", async () => {
    const ready = await start(stage, ["serve", "--ephemeral", "--port", "0", "--json"]).printed("event", "ready");
    return { detail: `${text(ready, "base_url")} with an empty database`, value: ready };
  });
  const baseUrl = text(platform, "base_url");

  const receiver = await step(stage, "Receiver", 'nodeWebhook({ secrets }) from "service-cli/webhooks"', async () => {
    stage.receiver = await startReceiver(() => secret);
    return { detail: `${stage.receiver.url} accepts verified events only`, value: stage.receiver };
  });

  await step(stage, "Sign in", "service login --api-key-stdin", async () => {
    const args = ["login", "--api-key-stdin", "--base-url", baseUrl, "--json"];
    await start(stage, args, text(platform, "sandbox_key")).succeeded;
    return { detail: `${text(platform, "account")}, sandbox`, value: undefined };
  });

  await step(stage, "Customer", "service customers create --email ada@example.com", async () => {
    const create = start(stage, ["customers", "create", "--email", "ada@example.com", "--name", "Ada", "--json"]);
    const customer = await create.printed("object", "customer");
    await create.succeeded;
    return { detail: `${text(customer, "id")} ${text(customer, "email")}`, value: undefined };
  });

  await step(stage, "Listen", `service listen --forward-to ${receiver.url} --retries 0`, async () => {
    const listen = start(stage, ["listen", "--forward-to", receiver.url, "--retries", "0", "--json"]);
    const ready = await listen.printed("event", "ready");
    secret = text(ready, "secret");
    return { detail: "forwarding sandbox events to this machine, signed", value: undefined };
  });

  const event = await step(stage, "Trigger", "service trigger order.completed", async () => {
    const arriving = receiver.received("order.completed");
    await start(stage, ["trigger", "order.completed", "--json"]).succeeded;
    const received = await arriving;
    return { detail: `${received.id} received; signature verified; responded with 204`, value: received };
  });

  const failed = await step(stage, "Failure", "service trigger payment.failed", async () => {
    const rejection = receiver.rejectNext("payment.failed");
    await start(stage, ["trigger", "payment.failed", "--json"]).succeeded;
    const { id } = await rejection;
    return { detail: `${id} received; the receiver responds with 500, as an application with a bug would`, value: id };
  });

  await step(stage, "Why", "service why", async () => {
    for (;;) {
      const why = start(stage, ["why", failed, "--json"]);
      const { findings } = (await why.printed("object", "explanation")) as unknown as Pick<Explanation, "findings">;
      await why.succeeded;
      const { code, summary, evidence } = findings[0]!;
      // The listener reports the response in a moment.
      if (code !== "receiver_error") continue;
      return { detail: [summary, evidence].filter(Boolean).join("\n"), value: undefined };
    }
  });
  reporter.delivered(event);
  return { baseUrl, signInUrl: text(platform, "sign_in_url") };
}

async function step<Value>(
  { context, reporter }: Stage,
  title: string,
  command: string,
  work: () => Promise<{ detail: string; value: Value }>,
): Promise<Value> {
  const end = reporter.begin(title, command);
  const limit = AbortSignal.timeout(STEP_SECONDS * 1000);
  try {
    const { detail, value } = await orAborted(work(), AbortSignal.any([context.signal, limit]));
    end(true, detail);
    return value;
  } catch (error) {
    if (error instanceof InterruptedError) throw error;
    end(false, error === limit.reason ? `Timed out after ${STEP_SECONDS} s` : (error as Error).message);
    throw new SilentExit(1);
  }
}

/** Starts one of the CLI's own commands as its user would. */
function start({ context, env, groups }: Stage, args: readonly string[], input?: string) {
  const errors: string[] = [];
  let onRecord = (_record: Record<string, unknown>): unknown => undefined;
  const { group, closed } = startCommand(args, {
    env,
    platform: context.platform,
    // A project file in the current folder could point to another platform.
    cwd: env["SERVICE_CONFIG_DIR"]!,
    input,
    onStdout: (record) => record !== undefined && onRecord(record),
    onStderr: (record, line) => {
      const { detail, hint } = record ?? {};
      if (typeof detail !== "string") errors.push(line);
      else errors.push(detail, ...(typeof hint === "string" ? [hint] : []));
    },
  });
  groups.push(group);
  const failure = (code: number | null) =>
    new UserError(context.output.runnable(errors.join("\n")) || `exited with code ${code}`);
  const succeeded = closed.then((code) => {
    if (code !== 0) throw failure(code);
  });
  succeeded.catch(() => {});
  return {
    /** Rejects with what the command printed on stderr if it fails. */
    succeeded,
    /** Resolves with the next record whose member has this value. Rejects if the command exits before. */
    printed: (member: string, value: string) =>
      new Promise<Record<string, unknown>>((resolve, reject) => {
        onRecord = (record) => record[member] === value && resolve(record);
        closed.then((code) => reject(failure(code)), reject);
      }),
  };
}

function text(record: Record<string, unknown>, name: string): string {
  return String(record[name]);
}

/** Prints the demo's progress: lines on a terminal, or one JSON object per step. */
type StepReporter = ReturnType<typeof humanReporter>;

const TITLE_WIDTH = 10;

function jsonReporter({ output }: Context): StepReporter {
  const print = (record: object): void => output.line(JSON.stringify(record));
  return {
    begin: (title, command) => (ok, detail) => print({ event: "step", step: title, command, ok, detail }),
    delivered: (event) => print({ event: "delivered", verified: true, payload: event }),
    stayOpen: ({ baseUrl, signInUrl }) => print({ event: "open", base_url: baseUrl, sign_in_url: signInUrl }),
    arrived: (event) => print({ event: "arrived", verified: true, payload: event }),
  };
}

function humanReporter({ output, stdout }: Context) {
  const { styles } = output;
  const indent = " ".repeat(TITLE_WIDTH + 4);
  /** Indented to the text after the mark. */
  const words = (text: string): string => {
    const { columns = Infinity } = stdout;
    const lines = text.split("\n").flatMap((line) => wrapWords(line, Math.max(columns - indent.length - 2, 20)));
    return lines.join(`\n${indent}  `);
  };
  return {
    begin(title: string, command: string) {
      output.line(`${styles.strong(title.padEnd(TITLE_WIDTH))}  ${styles.dim("$")} ${output.runnable(command)}`);
      return (ok: boolean, detail: string) =>
        output.line(`${indent}${ok ? styles.good("✓") : styles.bad("✗")} ${words(detail)}\n`);
    },
    delivered(_event: WebhookEvent) {
      output.line(`${styles.good("✓")} ${styles.strong("Every step succeeded.")}`);
    },
    stayOpen({ baseUrl, signInUrl, folder }: { baseUrl: string; signInUrl: string; folder: string }) {
      output.line(`\nThe platform is still running at ${styles.strong(baseUrl)}`);
      output.line("One-time dashboard link, valid for 15 minutes:");
      output.line(`  ${signInUrl}`);
      output.line("Try it from another terminal; events are printed here:");
      output.line(`  $ export SERVICE_CONFIG_DIR=${folder}`);
      output.line(output.runnable("  $ service trigger payment.failed"));
      output.line(output.runnable("  $ service events list"));
      output.line(styles.dim("Press Ctrl-C to stop the demo and delete its data."));
    },
    /** A verified event that arrived after the steps. */
    arrived({ type, id }: WebhookEvent) {
      output.line(`${styles.good("✓")} ${type} ${id} received; signature verified`);
    },
  };
}

/**
 * Starts a stand-in for a user's application: an HTTP server that accepts only verified events. `secret` may arrive after
 * the server starts, because `listen` reports it.
 */
async function startReceiver(secret: () => string) {
  const events: WebhookEvent[] = [];
  let onEvent = (_event?: WebhookEvent): void => {};
  let reject: ((event: WebhookEvent) => void) | undefined;
  let rejectedType: string | undefined;
  const receive = nodeWebhook({ secrets: () => secret() }, (event, _request, response) => {
    if (event.type === rejectedType) {
      rejectedType = undefined;
      response.writeHead(500).end("TypeError: payment.amount is not a number");
      return reject?.(event);
    }
    events.push(event);
    onEvent(event);
    response.writeHead(204).end();
  });
  const server: Server = createServer((request, response) => void receive(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks`,
    /** Resolves with the first verified event of the type. */
    received: (type: string) =>
      new Promise<WebhookEvent>((resolve) => {
        onEvent = () => {
          const event = events.find((candidate) => candidate.type === type);
          if (event !== undefined) resolve(event);
        };
        onEvent();
      }),
    /** Responds once with 500 to the type. Resolves with the event. */
    rejectNext: (type: string) =>
      new Promise<WebhookEvent>((resolve) => {
        [rejectedType, reject] = [type, resolve];
      }),
    /** Calls back with every verified event from now on. */
    follow(notify: (event: WebhookEvent) => void): void {
      onEvent = (event) => event && notify(event);
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
