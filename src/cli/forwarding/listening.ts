import type { Waiting } from "../../contract/listen.ts";
import { systemClock } from "../../network/clock.ts";
import type { ForwardingOptions } from "../../relay/dispatcher.ts";
import { PortAdvisor } from "../../relay/port-advisor.ts";
import type { Report } from "../../relay/report.ts";
import { listenTargets, Run } from "../../relay/run.ts";
import { HEADERS } from "../../contract/headers.ts";
import { shellCommand } from "../../contract/shell-command.ts";
import { counted } from "../../contract/words.ts";
import { sign, SignatureError } from "../../webhooks/index.ts";
import { type Condition, meets } from "../arguments/assignments.ts";
import type { Context } from "../context.ts";
import type { EnvironmentClock } from "../environment-time.ts";
import { asUsage, endStream, orAborted, SilentExit, UserError } from "../errors.ts";
import { SECRET_VARIABLE } from "../receivers/secrets.ts";
import type { ChildCommand, ChildEnd } from "../process/foreground.ts";
import { exampleFor } from "./example.ts";
import { factsOf } from "./lines.ts";
import type { Display } from "./printer.ts";
import type { Feed } from "./ui/feed.ts";
import { type FileFlags, RunFiles } from "./files.ts";
import { type ForwardingFlags, type Setup, targetsOf } from "./options.ts";
import { explainListenError, type PlatformAccess } from "./platform-access.ts";
import type { Forwards } from "./interruption.ts";
import { StartPosition } from "./start-position.ts";

type Ready = Extract<Report, { event: "ready" }>;

export interface ListenFlags extends ForwardingFlags, FileFlags {
  events?: string[];
  where?: Condition[];
  failOnError: boolean;
  /** The start position for the platform: an event ID, `now` or `-<seconds>`; or `last`. */
  since?: string | undefined;
  printSecret: boolean;
  /** Seconds. */
  wait?: number | true;
  /** Seconds. */
  maxDowntime?: number;
  /** True for the screen; false for plain lines on a terminal. */
  ui: boolean;
}

const DEFAULT_WAIT_SECONDS = 30;
/** How long `--fail-on-error` waits for retries after the command: longer than the default ones take. */
const MAX_RETRIES_MS = 60_000;

export interface ListeningOptions {
  flags: ListenFlags;
  /** The command that runs while events are forwarded; empty for none. */
  command: readonly string[];
  platform: PlatformAccess;
  setup: Setup;
  forwarding: ForwardingOptions;
  display: Display;
  clock: EnvironmentClock;
  /** True if something else starts the receiver, so that nothing needs to listen there yet. */
  receiverStarts?: boolean;
  /** Called with the cursor after which a later run can start, each time that it moves. */
  passed?: (cursor: string) => void;
  /** Called when an interrupted run begins to wait for the forwards in flight. */
  onStopping?: (run: Forwards) => void;
}

/** One run from start to end, with its files, its position and the child command. */
export class Listening {
  readonly #options: ListeningOptions;
  readonly #context: Context;
  readonly #files: RunFiles;
  readonly #position: StartPosition;
  readonly #advisor: PortAdvisor;
  readonly #run: Run;
  #readying: Promise<void> | undefined;
  #child: ChildCommand | undefined;
  #childEnd: ChildEnd | undefined;
  #failure: { error: unknown } | undefined;
  #failedForwards = 0;
  /** Number of those that had retries left. */
  #unretried = 0;

  /** Throws UserError for an invalid signing secret, and if the recording cannot be opened. */
  constructor(options: ListeningOptions, context: Context) {
    const { flags, command, platform, setup, forwarding, display, passed } = options;
    this.#options = options;
    this.#context = context;
    const warn = (text: string): void => display.warn(text);
    const { identity } = platform;
    this.#position = new StartPosition({ context, warn, identity, events: flags.events, receivers: setup });
    this.#files = new RunFiles(flags, { platform: context.platform, warn, onFailure: (error) => this.#fail(error) });
    this.#advisor = new PortAdvisor({
      clock: systemClock,
      except: platform.baseUrl.port === "" ? [] : [Number(platform.baseUrl.port)],
      // The command may start the receiver itself.
      expected: command.length > 0 || options.receiverStarts ? [] : targetsOf(setup),
      report: (report) => display.print(report),
      host: forwarding.host,
      wait: waitsForReceiver(options) ? this.#awaitReceiver : undefined,
    });
    const settings = {
      ...platform,
      ...forwarding,
      targets: listenTargets(forwarding),
      events: flags.events,
      filter: filterOf(flags.where),
      after: flags.since === "last" ? this.#position.start() : flags.since,
      secret: setup.secret,
      waitMs: waitMsOf(flags),
      maxDowntimeMs: flags.maxDowntime === undefined ? undefined : flags.maxDowntime * 1000,
      passed: (cursor: string) => {
        this.#position.moved(cursor);
        passed?.(cursor);
      },
      report: (report: Report) => this.#report(report),
    };
    this.#run = asUsage(() => new Run(settings), SignatureError, setup.secretSource ?? "--secret");
  }

  /**
   * Resolves once it has ended as requested. Otherwise rejects with the reason, or SilentExit with the command's code.
   */
  async run(): Promise<void> {
    const { display, flags, platform, setup } = this.#options;
    const { signal } = this.#context;
    await this.#files.assertWritable(setup.secret);
    await this.#files.removeReady();
    signal.addEventListener("abort", this.#onAbort, { once: true });
    try {
      // Ctrl-C may have been pressed while the run was prepared.
      if (signal.aborted) this.#onAbort();
      else this.#run.start();
      const { error, summary } = await this.#run.ended;
      this.#failedForwards = summary.failed;
      this.#unretried = summary.unretried;
      if (error !== undefined) this.#fail(explainListenError(error, platform, flags.wait !== undefined));
      await this.#child?.ended;
    } finally {
      display.stop?.();
      this.#advisor.close();
      // A file that is written after its removal would stay.
      await this.#readying;
      this.#files.close();
      await this.#position.settled();
      await this.#files.removeReady();
      await display.settle?.();
    }
    this.#conclude();
  }

  #report(report: Report): void {
    if (report.event === "received") this.#options.clock.learn(report.body);
    this.#options.display.print(report);
    this.#advisor.notice(report);
    if (report.event === "received") this.#files.record({ ...report, at: this.#context.now() });
    if (report.event !== "ready") return;
    this.#options.display.begin?.(this.#feed(report));
    this.#readying = this.#onReady(report).catch((error: unknown) => this.#fail(error));
  }

  readonly #awaitReceiver = (awaited: Waiting | undefined): void => {
    this.#run.hold("receiver", awaited);
    this.#options.display.waitUntil?.(awaited);
  };

  #feed(ready: Ready): Feed {
    const { platform, setup, flags } = this.#options;
    const { output } = this.#context;
    const { account, environment, secret } = ready;
    const run = this.#run;
    const origin = `${environment} of ${account}`;
    return {
      state: "Connected",
      origin,
      shortOrigin: environment,
      receivers: setup,
      facts: [["account", origin], ...factsOf(ready, setup)],
      example: exampleFor(flags),
      runnable: (text) => output.runnable(text),
      filteredOut: () => run.filteredOut ?? 0,
      archive: "For older events, use the dashboard or service events list.",
      platform: platform.baseUrl,
      signs: true,
      pause: () =>
        run.hold("user", { waiting: "forwarding is resumed", remedy: "Press p in the listener to resume it" }),
      resume: () => run.hold("user", undefined),
      awaitReceiver: this.#awaitReceiver,
      resend: (event, attempt) => run.resend(event, attempt),
      keepsSignature: () => false,
      assertEditable() {},
      edited(event, body) {
        const { id = event.id, type = event.type } = JSON.parse(body) as Record<string, unknown>;
        return { id: String(id), type: String(type), body, isEdited: true };
      },
      sign: ({ body }, headers) => {
        const timestamp = Math.floor(this.#context.now() / 1000);
        const signature = sign({ payload: body, secrets: setup.secret ?? secret, timestamp });
        return headers.map((text, i) => (headers[i - 1] === HEADERS.signature ? signature : text));
      },
    };
  }

  async #onReady(ready: Ready): Promise<void> {
    const { flags, command, setup } = this.#options;
    const warned = flags.since === undefined ? this.#position.startedAt(ready.cursor, ready.others) : undefined;
    void this.#readClock();
    const secret = setup.secret ?? ready.secret;
    await this.#files.ready(secret, setup.target);
    if (command.length === 0) return warned;
    const { ChildCommand } = await import("../process/foreground.ts");
    if (this.#context.signal.aborted || this.#failure !== undefined) return;
    this.#child = new ChildCommand(command, { [SECRET_VARIABLE]: secret }, this.#context);
    this.#childEnd = await this.#child.ended;
    if (flags.failOnError && this.#childEnd.exitCode === 0) await this.#awaitRetries();
    await this.#run.stop();
    await warned;
  }

  /** Lets retries follow the end of the command: only a forward that fails for good is a failure. */
  async #awaitRetries(): Promise<void> {
    const limit = AbortSignal.any([this.#context.signal, AbortSignal.timeout(MAX_RETRIES_MS)]);
    await orAborted(Promise.race([this.#run.settled(), this.#run.ended]), limit).catch(() => {});
  }

  async #readClock(): Promise<void> {
    const { clock, display } = this.#options;
    const { json, quiet } = this.#context.output;
    if (json || quiet) return;
    await clock.read();
    display.clockRead();
  }

  readonly #onAbort = (): void => {
    // Forwards in flight may take seconds. A second Ctrl-C then ends the process at once, and must not leave the
    // terminal raw.
    this.#options.display.stop?.();
    // The command gets the signal itself, and exits in its own time.
    if (this.#child !== undefined) return;
    void this.#run.stop();
    this.#options.onStopping?.(this.#run);
  };

  #fail(error: unknown): void {
    this.#failure ??= { error };
    this.#child?.kill("SIGTERM");
    void this.#run.stop();
  }

  #conclude(): void {
    const { output, signal } = this.#context;
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#childEnd !== undefined) {
      const { error, exitCode } = this.#childEnd;
      if (error !== undefined) throw new UserError(error.message, { exitCode });
      const ended = `The command exited with ${exitCode}: ${shellCommand`${this.#options.command}`}`;
      if (exitCode !== 0 && !signal.aborted) output.warn(ended);
      if (exitCode !== 0) throw new SilentExit(exitCode);
    }
    if (this.#options.flags.failOnError && this.#failedForwards > 0) {
      const when =
        this.#unretried === 0
          ? " after all retries"
          : `; ${this.#unretried} of them had retries left when the listener ended`;
      throw new UserError(`${counted(this.#failedForwards, "forward")} failed${when}`, { code: "forward_failed" });
    }
    if (this.#childEnd !== undefined) return;
    if (!signal.aborted) return;
    if (this.#options.command.length > 0) throw signal.reason;
    endStream(signal.reason);
  }
}

/** With several receivers, events of the others must not wait; without retries, each is sent once and at once. */
function waitsForReceiver({ setup, forwarding, receiverStarts }: ListeningOptions): boolean {
  const origins = new Set(targetsOf(setup).map(({ origin }) => origin));
  return origins.size === 1 && forwarding.retries !== 0 && receiverStarts !== true;
}

/** Returns undefined if all events are selected. */
function filterOf(conditions: readonly Condition[] | undefined) {
  if (conditions === undefined) return undefined;
  return ({ body }: { body: string }) => {
    const event: unknown = JSON.parse(body);
    return conditions.every((condition) => meets(event, condition));
  };
}

/** By default, an unreachable platform is a failure. --max-downtime waits for it too. */
function waitMsOf({ wait, maxDowntime }: ListenFlags): number | undefined {
  if (wait !== undefined) return (wait === true ? DEFAULT_WAIT_SECONDS : wait) * 1000;
  return maxDowntime === undefined ? 0 : undefined;
}
