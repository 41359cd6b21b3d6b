import { rmSync } from "node:fs";
import type { Context } from "../../context.ts";
import { InterruptedError, isCtrlC, SilentExit, UserError } from "../../errors.ts";
import { makeTemporaryFolder } from "../../temporary-folder.ts";
import { CommandChild } from "./child.ts";
import { createNarrator, type Narrator } from "./narrator.ts";
import { type DemoReceiver, startReceiver } from "./receiver.ts";

const STEP_SECONDS = 20;

/** What the steps leave behind for the ones after them, and for the end to clear away. */
interface Stage {
  context: Context;
  narrator: Narrator;
  env: Record<string, string | undefined>;
  children: CommandChild[];
  receiver?: DemoReceiver;
}

/**
 * Runs each step as its user would, through this very command in processes of its own, and believes only what it sees at
 * the receiver. With `once` it ends then; else it stays until Ctrl-C.
 */
export async function runDemo({ once }: { once: boolean }, context: Context): Promise<void> {
  context.output.rejectFilters();
  const folder = makeTemporaryFolder("service-demo-");
  const stage: Stage = {
    context,
    narrator: createNarrator(context),
    env: { ...withoutOurVariables(context.env), SERVICE_CONFIG_DIR: folder },
    children: [],
  };
  try {
    const { baseUrl, signInUrl } = await runSteps(stage);
    if (once) return;
    stage.narrator.stayOpen({ baseUrl, signInUrl, folder });
    stage.receiver?.follow((event) => stage.narrator.arrived(event));
    await untilInterrupted(context);
  } finally {
    await Promise.all(stage.children.reverse().map((child) => child.stop()));
    await stage.receiver?.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runSteps(stage: Stage): Promise<{ baseUrl: string; signInUrl: string }> {
  const { narrator } = stage;
  let secret = "";

  const platform = await step(stage, "Platform", "service serve --ephemeral --port 0", async () => {
    const serve = start(stage, ["serve", "--ephemeral", "--port", "0", "--json"]);
    const ready = await serve.waitFor((record) => record["event"] === "ready");
    return { said: `${text(ready, "base_url")} with an empty database`, value: ready };
  });
  const baseUrl = text(platform, "base_url");

  const receiver = await step(stage, "Receiver", 'nodeWebhook({ secrets }) from "service-cli/webhooks"', async () => {
    stage.receiver = await startReceiver(() => secret);
    return { said: `${stage.receiver.url} accepts verified events only`, value: stage.receiver };
  });

  await step(stage, "Sign in", "service login --api-key-stdin", async () => {
    const args = ["login", "--api-key-stdin", "--base-url", baseUrl, "--json"];
    await finish(start(stage, args, text(platform, "sandbox_key")));
    return { said: `${text(platform, "account")}, sandbox`, value: undefined };
  });

  await step(stage, "Customer", "service customers create --email ada@example.com", async () => {
    const create = start(stage, ["customers", "create", "--email", "ada@example.com", "--name", "Ada", "--json"]);
    const customer = await create.waitFor((record) => record["object"] === "customer");
    await finish(create);
    return { said: `${text(customer, "id")} ${text(customer, "email")}`, value: undefined };
  });

  await step(stage, "Listen", `service listen --forward-to ${receiver.url}`, async () => {
    const listen = start(stage, ["listen", "--forward-to", receiver.url, "--json"]);
    const ready = await listen.waitFor((record) => record["event"] === "ready");
    secret = text(ready, "secret");
    return { said: "forwarding sandbox events to this machine, signed", value: undefined };
  });

  const event = await step(stage, "Trigger", "service trigger order.completed", async () => {
    const arriving = receiver.received("order.completed");
    await finish(start(stage, ["trigger", "order.completed", "--json"]));
    const received = await arriving;
    return { said: `${received.id} received; signature verified`, value: received };
  });
  narrator.delivered(event);
  return { baseUrl, signInUrl: text(platform, "sign_in_url") };
}

async function step<Value>(
  { context, narrator }: Stage,
  title: string,
  command: string,
  work: () => Promise<{ said: string; value: Value }>,
): Promise<Value> {
  const shown = narrator.begin(title, command);
  const ended = new AbortController();
  try {
    const { said, value } = await Promise.race([work(), deadline(ended.signal), interruption(context, ended.signal)]);
    shown.done(said);
    return value;
  } catch (error) {
    if (error instanceof InterruptedError) throw error;
    shown.failed((error as Error).message);
    throw new SilentExit(1);
  } finally {
    ended.abort();
  }
}

function start(stage: Stage, args: readonly string[], input?: string): CommandChild {
  const child = new CommandChild(args, stage.env, input);
  stage.children.push(child);
  return child;
}

async function finish(child: CommandChild): Promise<void> {
  const code = await child.ended;
  if (code !== 0) throw new UserError(child.stderrText || `exited with code ${code}`);
}

function deadline(ended: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () => reject(new UserError(`Timed out after ${STEP_SECONDS} s`));
    const timer = setTimeout(fail, STEP_SECONDS * 1000).unref();
    ended.addEventListener("abort", () => clearTimeout(timer), { once: true });
  });
}

/** Rejects on Ctrl-C; stops listening once `ended` is aborted. */
function interruption({ signal }: Context, ended?: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const options = { once: true, ...(ended === undefined ? {} : { signal: ended }) };
    signal.addEventListener("abort", () => reject(signal.reason as Error), options);
  });
}

async function untilInterrupted(context: Context): Promise<void> {
  await interruption(context).catch((error: unknown) => {
    if (!isCtrlC(error)) throw error;
  });
}

/** The demo must not act on a real profile, whatever the shell is set up for. */
function withoutOurVariables(env: Context["env"]): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("SERVICE_")));
}

function text(record: Record<string, unknown>, name: string): string {
  return String(record[name]);
}
