import { existsSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import type { Waiting } from "../../../contract/listen.ts";
import { listening } from "../../../relay/port-advisor.ts";
import type { Context } from "../../context.ts";
import { EnvironmentClock } from "../../environment-time.ts";
import { InterruptedError, isCtrlC, SilentExit, UsageError, UserError } from "../../errors.ts";
import { flagsOf } from "../../project/forwarding.ts";
import { databaseOf, startPortOf } from "../../project/platform.ts";
import type { Project } from "../../project/schema.ts";
import { assertReceiversTrusted } from "../../project/remote-receivers.ts";
import { exampleFor } from "../../forwarding/example.ts";
import { isTerminal, openUi } from "../../forwarding/display.ts";
import type { ListenUi } from "../../forwarding/ui/index.ts";
import type { Receivers } from "../../forwarding/options.ts";
import { offerDriver } from "../../database/driver.ts";
import {
  assertPortFree,
  howItEnded,
  isLocal,
  restarting,
  secretPlace,
  startApp,
  untilListening,
  writeVariables,
} from "./app.ts";
import { keyPressed } from "../../terminal/keys.ts";
import { Console } from "./console.ts";
import { prepareFolder } from "./init.ts";
import { type Ready, RestartableListener } from "./listener.ts";
import { PlatformProcess } from "./platform.ts";
import { type Exit, killWithThisProcess, type ProcessGroup } from "../../process/process-group.ts";
import { sendSeed } from "./seed.ts";
import { requireProject } from "./trust.ts";
import { watchProject } from "./watch.ts";
import { counted } from "../../../contract/words.ts";

/** Time limit for the app to exit, then for the listener and the platform: 10 s in total. */
const APP_GRACE_MS = 5000;
const LISTENER_GRACE_MS = 1500;
const PLATFORM_GRACE_MS = 3000;
/** Lines of the log that stay on the terminal if the screen closes because of a failure. */
const LAST_LINES = 10;

interface DevFlags {
  /** Never ask whether to restart the app. */
  exitWithApp?: boolean;
  /** False for plain lines on a terminal. */
  ui: boolean;
}

/** `service dev`: runs the parts that the project file names until one of them ends. Import this module lazily. */
export async function runDev(command: Context, { exitWithApp = false, ui }: DevFlags): Promise<void> {
  const context = command.inProjectFolder();
  if (context.globals.live) {
    throw new UsageError("`service dev` works in the sandbox only", { hint: "Remove --live." });
  }
  if (context.globals.apiKeyStdin) {
    throw new UsageError("`service dev` does not support --api-key-stdin", { hint: "Set SERVICE_API_KEY." });
  }
  const found = requireProject(context);
  assertReceiversTrusted(found.project, context);
  // The parts get the URL as a flag, and flags count as the user's choice.
  if (found.project.platform?.url !== undefined && context.globals.baseUrl === undefined) await context.connection();
  const hasScreen = ui && isTerminal(context);
  await new Dev(found, context, await Console.open(context), { exitWithApp, hasScreen }).run();
}

/** The first event that ended the work. */
type End = { by: "signal" } | { by: "app"; exit: Exit } | { by: "failure"; error: unknown };

interface DevOptions {
  exitWithApp: boolean;
  hasScreen: boolean;
}

class Dev {
  readonly #project: Project;
  readonly #text: string;
  readonly #context: Context;
  readonly #console: Console;
  readonly #options: DevOptions;
  readonly #startedAt = performance.now();
  /** Aborted as soon as any part ends. */
  readonly #over = new AbortController();
  readonly #ended: Promise<End>;
  #end: (end: End) => void = () => {};
  #platform: PlatformProcess | undefined;
  #listener: RestartableListener | undefined;
  #app: ProcessGroup | undefined;
  #ui: ListenUi | undefined;
  /** What paused events wait for. */
  #awaited: Waiting | undefined;
  #isStopping = false;
  #crashes = 0;

  constructor(
    { project, text }: { project: Project; text: string },
    context: Context,
    console: Console,
    options: DevOptions,
  ) {
    this.#options = options;
    this.#project = project;
    this.#text = text;
    this.#context = context;
    this.#console = console;
    this.#ended = new Promise<End>((resolve) => {
      this.#end = (end) => {
        resolve(end);
        this.#over.abort();
      };
    });
  }

  async run(): Promise<void> {
    const { signal } = this.#context;
    const onAbort = (): void => this.#end({ by: "signal" });
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    const kill = (): void => {
      this.#app?.kill();
      this.#platform?.group.kill();
    };
    const release = killWithThisProcess(kill, () => this.#isStopping);
    const start = this.#start().catch((error: unknown) => this.#fail(error));
    const end = await this.#ended;
    this.#isStopping = true;
    this.#closeScreen(end.by !== "signal");
    await start;
    try {
      await this.#stop(end);
    } finally {
      release();
    }
    await this.#conclude(end);
  }

  async #start(): Promise<void> {
    const { cwd } = this.#context;
    // Known at once, before anything is started and written; unless the platform says first that it runs already.
    const isInUse = existsSync(`${databaseOf(this.#project, cwd)}.lock`);
    if (this.#project.run !== undefined && !isInUse) await this.#step(assertPortFree(this.#project));
    if (this.#platformUrl === undefined) await this.#step(offerDriver(this.#context));
    prepareFolder(this.#project, this.#text, cwd);
    const baseUrl = await this.#startPlatform();
    await this.#seed(baseUrl);
    const listen = await this.#step(this.#console.part("listen", baseUrl));
    if (this.#options.hasScreen) await this.#step(this.#openScreen(listen));
    const { ready, receivers } = await this.#startListener(listen, baseUrl);
    const variables = await this.#step(
      writeVariables(this.#project, { baseUrl, secret: ready.secret, context: listen }),
    );
    watchProject({
      text: this.#text,
      project: this.#project,
      context: await this.#step(this.#console.part("dev")),
      signal: this.#over.signal,
      restart: (project) => this.#listener!.restart(project),
      onFailure: (error) => this.#fail(error),
    });
    await this.#startApp(variables, receivers.target ?? receivers.routes[0]?.url);
    this.#sayReady(baseUrl);
  }

  /** Opens the screen of `service listen`, with the log of the console. */
  async #openScreen(context: Context): Promise<void> {
    const { log } = this.#console;
    const setup = { target: undefined, routes: [], explains: true as const };
    const clock = new EnvironmentClock(context);
    this.#ui = await openUi({ context, terminal: this.#context, log, clock, setup });
    this.#console.screen = this.#ui;
  }

  /** Restores the terminal. After a failure, repeats what the parts printed last. */
  #closeScreen(hasFailed: boolean): void {
    const wasShown = this.#ui?.isShown;
    this.#ui?.stop();
    if (wasShown && hasFailed) this.#console.repeat(LAST_LINES);
  }

  /** Waits for a step of the start. Rejects as soon as any part ends, so that no other part starts after that. */
  async #step<Result>(work: Promise<Result>): Promise<Result> {
    const { signal } = this.#over;
    const result = await Promise.race([work, this.#ended.then(() => signal.throwIfAborted())]);
    signal.throwIfAborted();
    return result as Result;
  }

  #fail(error: unknown): void {
    this.#end({ by: "failure", error: this.#explainAccess(error) });
  }

  /** The platform to use; undefined if one is started here. */
  get #platformUrl(): string | undefined {
    return this.#context.globals.baseUrl ?? this.#project.platform?.url;
  }

  /** Returns the base URL. */
  async #startPlatform(): Promise<string> {
    if (this.#platformUrl !== undefined) return this.#platformUrl;
    const part = await this.#step(this.#console.part("platform"));
    const port = await this.#step(startPortOf(this.#project, this.#context.cwd));
    const platform = new PlatformProcess(this.#project, port, part);
    this.#platform = platform;
    const baseUrl = await this.#step(platform.ready);
    void platform.group.exited.then((exit) => {
      const message = `The platform ${howItEnded(exit)}; everything else was stopped`;
      this.#fail(new UserError(message, { code: "platform_exited" }));
    });
    this.#sayState("platform", "ready", `ready at ${baseUrl}`);
    return baseUrl;
  }

  async #seed(baseUrl: string, isAfterReset = false): Promise<void> {
    const { seed } = this.#project;
    if (seed === undefined) return;
    const context = await this.#step(this.#console.part("seed", baseUrl));
    const count = await this.#step(sendSeed(seed, context, isAfterReset));
    if (count === undefined && isAfterReset) this.#sayState("seed", "skipped", "the sandbox is not empty");
    else if (count === undefined) this.#sayState("seed", "skipped", `${seed} was already sent to this database`);
    else this.#sayState("seed", "ready", `${counted(count, "call")} of ${seed} sent`);
  }

  /** Resolves once the first session is ready. */
  #startListener(context: Context, baseUrl: string): Promise<{ ready: Ready; receivers: Receivers }> {
    const isReady = new Promise<{ ready: Ready; receivers: Receivers }>((resolve) => {
      this.#listener = new RestartableListener(this.#project, context, {
        ui: this.#ui,
        setup: { hiddenSecret: secretPlace(this.#project) },
        onReady: (ready, receivers) => {
          this.#sayListening(receivers);
          resolve({ ready, receivers });
        },
        onWaiting: () =>
          this.#sayState("listen", "waiting", `waits until ${this.#awaited?.waiting}. ${this.#awaited?.remedy}`),
        onReset: () => {
          if (this.#project.reseed) this.#seed(baseUrl, true).catch((error: unknown) => this.#fail(error));
        },
        onFailure: (error) => this.#fail(error),
      });
    });
    return this.#step(isReady);
  }

  async #startApp(variables: Readonly<Record<string, string>>, target: URL | undefined): Promise<void> {
    const { run } = this.#project;
    if (run === undefined) return;
    await this.#step(assertPortFree(this.#project));
    await this.#step(
      new Promise<void>((resolve) => {
        this.#runApp({ run, variables, target: isLocal(target) ? target : undefined, onReady: resolve });
      }),
    );
  }

  /** Starts the app. Events wait until it listens; after a crash, until it listens again. */
  #runApp(app: App): void {
    const { run, variables, target, onReady } = app;
    const exited = new AbortController();
    const started = performance.now();
    this.#console.lastError = undefined;
    this.#console.say("app", `$ ${run}`, { event: "state", state: "starting", command: run });
    const group = startApp(run, variables, { console: this.#console, context: this.#context });
    this.#app = group;
    group.exited
      .then(async (exit) => {
        exited.abort();
        if (target !== undefined) this.#waitUntil(restarting(exit, this.#console.lastError));
        if (await this.#isToRestart(exit)) this.#runApp(app);
        else this.#end({ by: "app", exit });
      })
      .catch((error: unknown) => this.#fail(error));
    if (target === undefined) return onReady();
    this.#waitUntil(listening(target));
    const signal = AbortSignal.any([exited.signal, this.#over.signal]);
    const slow = setTimeout(
      () => this.#sayState("app", "waiting", `events wait until ${this.#awaited?.waiting}`),
      SLOW_START_MS,
    );
    void untilListening(target, signal).then(() => {
      clearTimeout(slow);
      if (signal.aborted) return;
      this.#sayState("app", "ready", `ready on ${target.host} after ${since(started)}`);
      this.#waitUntil(undefined);
      onReady();
    });
  }

  /** Lets events wait, until it is called without. */
  #waitUntil(awaited: Waiting | undefined): void {
    this.#awaited = awaited;
    this.#listener!.awaitApp(awaited);
  }

  /** Asks what to do after a crash, if a person is there. */
  async #isToRestart(exit: Exit): Promise<boolean> {
    const { interactive, output } = this.#context;
    const { signal } = this.#over;
    if (exit.code === 0 || this.#options.exitWithApp || !interactive || output.json || signal.aborted) return false;
    this.#crashes += 1;
    const again = this.#crashes === 1 ? "" : `, crash ${this.#crashes}`;
    if (this.#ui?.isShown) {
      this.#sayState("app", "exited", howItEnded(exit), false);
      return (await this.#ui.ask(`The app ${howItEnded(exit)}${again}`, ["r restart", "q quit"], signal)) === "r";
    }
    const ask = (): void =>
      this.#sayState("app", "exited", `${howItEnded(exit)}${again}. Press r to restart it, q to quit`, false);
    ask();
    return (await keyPressed(["r", "q"], this.#context, { signal, onOther: ask })) === "r";
  }

  /** Stops the parts in the reverse order of their start. */
  async #stop(end: End): Promise<void> {
    const { reason } = this.#context.signal as { reason: unknown };
    const signal = end.by === "signal" && reason instanceof InterruptedError ? reason.signal : "SIGTERM";
    if (this.#app !== undefined && (await this.#app.stop(signal, APP_GRACE_MS)) && end.by !== "app") {
      this.#sayState("app", "killed", `still running ${APP_GRACE_MS / 1000} s after ${signal}; killed`);
    }
    const listener = this.#listener?.stop();
    await Promise.race([listener, delay(LISTENER_GRACE_MS, undefined, { ref: false })]);
    await this.#platform?.group.stop("SIGTERM", PLATFORM_GRACE_MS);
    await listener;
  }

  async #conclude(end: End): Promise<void> {
    if (end.by === "failure") throw end.error;
    const { signal } = this.#context;
    const exit = end.by === "app" ? end.exit : await this.#app?.exited;
    if (end.by === "app") {
      this.#sayState("app", "exited", `${howItEnded(exit!)}; everything else was stopped`, exit!.code === 0);
    }
    if (end.by === "signal") this.#sayState("dev", "stopped", "Stopped");
    if (exit !== undefined && exit.code !== 0) throw new SilentExit(exit.code);
    if (exit === undefined && signal.aborted && !isCtrlC(signal.reason)) throw signal.reason;
  }

  /** Explains how to get a credential for the platform of this project. */
  #explainAccess(error: unknown): unknown {
    if (!(error instanceof UserError)) return error;
    const { message, code, exitCode } = error;
    if (code === "not_signed_in" && this.#platform !== undefined) {
      return new UserError("No API key for the platform's database", {
        code,
        exitCode,
        hint: "Its keys were shown when the database was created. Set SERVICE_API_KEY to one of its sandbox keys, or set another platform.database in service.yaml.",
      });
    }
    if (code !== "unreachable") return error;
    return new UserError(message, { code, exitCode, hint: "Is the platform at platform.url (service.yaml) running?" });
  }

  #sayListening({ target, routes }: Receivers): void {
    const to = [
      ...routes.map(({ subscription, url }) => `${subscription} → ${url.href}`),
      ...(target === undefined ? [] : [routes.length === 0 ? target.href : `otherwise ${target.href}`]),
    ];
    this.#sayState("listen", "ready", to.length === 0 ? "printing events" : `forwarding events to ${to.join(", ")}`);
  }

  #sayReady(baseUrl: string): void {
    const { styles } = this.#context.output;
    const took = since(this.#startedAt);
    const dashboard = `${baseUrl}/dashboard`;
    this.#sayState("dev", "ready", `${styles.strong("Ready")} after ${took}. Dashboard: ${dashboard}`);
    if (this.#context.output.json) return;
    if (this.#platform !== undefined) this.#console.say("dev", "  To sign in there: service serve link", {});
    this.#console.say("dev", `  To trigger an event: ${exampleFor(flagsOf(this.#project)).command}`, {});
    if (this.#ui === undefined) this.#console.say("dev", styles.dim("  Press Ctrl-C to stop everything"), {});
  }

  #sayState(
    part: Parameters<Console["say"]>[0],
    state: string,
    text: string,
    isGood = state !== "killed" && state !== "exited",
  ): void {
    const { styles } = this.#context.output;
    const mark =
      state === "waiting" || state === "skipped" ? styles.dim("·") : isGood ? styles.good("✓") : styles.bad("✗");
    this.#console.say(part, `${mark} ${text}`, { event: "state", state, text });
  }
}

const SLOW_START_MS = 5000;

/** The app, which may be started again after a crash. */
interface App {
  run: string;
  variables: Readonly<Record<string, string>>;
  /** Where it is to listen, if that is on this machine. */
  target: URL | undefined;
  /** Called each time that it listens. */
  onReady: () => void;
}

function since(start: number): string {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}
