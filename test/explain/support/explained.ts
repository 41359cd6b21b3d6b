import { execFileSync } from "node:child_process";
import { afterAll, beforeAll, expect } from "vitest";
import type { Explanation } from "../../../src/cli/explanation.ts";
import type { Delivery } from "../../../src/contract/schemas/delivery.ts";
import type { Event } from "../../../src/contract/schemas/event.ts";
import type { WebhookEndpoint } from "../../../src/contract/schemas/webhook-endpoint.ts";
import { systemClock } from "../../../src/platform/ports.ts";
import type { PlatformSettings } from "../../../src/platform/start.ts";
import {
  type ScriptedReceiver,
  type Script,
  startScriptedReceiver,
} from "../../platform/delivery/support/scripted-receiver.ts";
import { type EmbeddedPlatform, startEmbedded } from "../../platform/oauth/support/embedded-platform.ts";
import { type Api, apiOf } from "../../support/api.ts";
import { type CliOptions, type CliResult, createConfigDir, runCli } from "../../support/run-cli.ts";

type Finding = Explanation["findings"][number];

/** A platform, a receiver, and the answers of `service why`. */
export interface Explained {
  readonly platform: EmbeddedPlatform;
  readonly receiver: ScriptedReceiver;
  /** The environment variables of the command. */
  readonly env: Record<string, string>;
  api: Api;
  /** Creates an endpoint at a path of the receiver, or at a URL. */
  endpoint(at: string, events?: string[], description?: string): Promise<string>;
  /** Creates an order. Resolves once each of its deliveries has had this many attempts. */
  order(attempts?: number): Promise<{ event: Event; deliveries: Delivery[] }>;
  deliveries(query: string): Promise<Delivery[]>;
  service(args: readonly string[], options?: CliOptions): Promise<CliResult>;
  /** Returns the answer about an ID, whose command must work. */
  why(id: string): Promise<Finding>;
  /** Runs a command of an answer, as if it was pasted into a shell. */
  run(fix: string | null, options?: CliOptions): Promise<CliResult>;
  /** Deletes all endpoints, so that a test sees no others. */
  clear(): Promise<void>;
}

export function explained(script: Script, settings: Partial<PlatformSettings> = {}): Explained {
  let platform: EmbeddedPlatform;
  let receiver: ScriptedReceiver;
  let env: Record<string, string>;
  beforeAll(async () => {
    receiver = await startScriptedReceiver(script);
    // Some answers depend on which of two things happened first.
    platform = await startEmbedded({ allowPrivateTargets: true, clock: systemClock, ...settings });
    const { baseUrl, sandboxKey } = platform;
    env = { SERVICE_BASE_URL: baseUrl, SERVICE_API_KEY: sandboxKey, SERVICE_CONFIG_DIR: createConfigDir() };
  });
  afterAll(async () => {
    await platform.close();
    await receiver.close();
  });
  const service = (args: readonly string[], options: CliOptions = {}) =>
    runCli(args, { ...options, env: { ...env, ...options.env } });
  const api: Api = (...call) => apiOf(platform.baseUrl, platform.sandboxKey)(...call);
  const deliveries = async (query: string) => (await api("GET", `/v1/deliveries?${query}`)).body.data as Delivery[];
  return {
    get platform() {
      return platform;
    },
    get receiver() {
      return receiver;
    },
    get env() {
      return env;
    },
    api,
    service,
    deliveries,
    async endpoint(at, events = ["order.*"], description) {
      const url = at.startsWith("/") ? receiver.url + at : at;
      const { status, body } = await api("POST", "/v1/webhook_endpoints", { url, events, description });
      expect(status).toBe(201);
      return body.id;
    },
    async order(attempts = 1) {
      const order = await api("POST", "/v1/orders", { amount: 1, currency: "EUR" });
      const [event] = (await api("GET", `/v1/events?related=${order.body.id}`)).body.data as Event[];
      const found = () => deliveries(`event=${event!.id}`);
      await expect
        .poll(async () => Math.min(...(await found()).map(({ attempt_count: count }) => count)))
        .toBeGreaterThanOrEqual(attempts);
      return { event: event!, deliveries: await found() };
    },
    async why(id) {
      const { stdout, stderr } = await service(["why", id, "--json"]);
      expect(stderr).toBe("");
      const explanation = JSON.parse(stdout) as Explanation;
      const [answer] = explanation.findings;
      expect(answer).toBeDefined();
      expect(explanation.cause).toBe(answer!.code);
      expect(answer!.code).not.toBe("clock_ahead");
      for (const fix of answer!.fix?.split(" && ") ?? []) await expectToWork(service, fix);
      return answer!;
    },
    async run(fix, options) {
      const [last, ...earlier] = fix!.split(" && ").toReversed();
      for (const command of earlier.toReversed()) expect((await service(wordsOf(command), options)).exitCode).toBe(0);
      return service(wordsOf(last!), options);
    },
    async clear() {
      const { data } = (await api("GET", "/v1/webhook_endpoints?limit=100")).body as { data: WebhookEndpoint[] };
      for (const { id } of data) await api("DELETE", `/v1/webhook_endpoints/${id}`);
    },
  };
}

/** Returns the arguments that a shell gives to `service`. */
function wordsOf(fix: string): string[] {
  const text = execFileSync("/bin/sh", ["-c", `service() { printf '%s\\0' "$@"; }; ${fix}`], { encoding: "utf8" });
  return text.split("\0").slice(0, -1);
}

/** Expects that `service` knows a command. */
async function expectToWork(service: Explained["service"], fix: string): Promise<void> {
  const words = wordsOf(fix);
  if (["listen", "login", "webhooks"].includes(words[0]!)) return;
  const isRead = ["get", "list"].includes(words[1] ?? "") || ["why", "api"].includes(words[0]!);
  const { exitCode, stderr } = await service([...words, ...(isRead ? [] : ["--dry-run"])]);
  expect({ fix, exitCode, stderr: exitCode === 0 ? "" : stderr }).toEqual({ fix, exitCode: 0, stderr: "" });
}

/** Returns the parts of an answer that tests compare, with times replaced by T. */
export function plain({ code, summary, evidence, action, fix }: Finding) {
  const timeless = (text: string | null) =>
    text
      ?.replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, "T")
      // On a busy machine, an attempt may take seconds.
      .replaceAll(/(?<=\bin )\d+(\.\d)? m?s\b|\b\d+(\.\d)? m?s(?= earlier\b)/g, "N ms")
      .replaceAll(/\b\d+(\.\d)? (ms|s)\b/g, "N $2") ?? null;
  return { code, summary: timeless(summary), evidence: timeless(evidence), action, fix };
}
