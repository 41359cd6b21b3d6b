import type { Client, CredentialSource } from "../client/http.ts";
import { BrokenPipeError, UsageError, UserError } from "./errors.ts";
import type { GlobalOptions } from "./global-options.ts";
import { Input } from "./input.ts";
import { credentialSource } from "./session/credential-source.ts";
import { type Connection, requireCredential, resolveConnection } from "./settings/connection.ts";
import { settingsDirectory } from "./settings/directory.ts";
import { emptySettings, profileNamed, type Settings } from "./settings/profiles.ts";
import { isReadableByOthers, readSettings } from "./settings/read.ts";
import { Output } from "./terminal/output.ts";
import { createPrompts, type Prompts } from "./terminal/prompts.ts";
import { colorLevel } from "./terminal/styles.ts";
import { openTextStream, type TextStream } from "./terminal/text-stream.ts";

/** The process as the program sees it: what a test may replace. */
export interface Surroundings {
  stdout: TextStream;
  stderr: TextStream;
  /** Node's own streams, opened at their first use: loading them takes several milliseconds. */
  streams: { stdin: () => NodeJS.ReadStream; stderr: () => NodeJS.WriteStream };
  env: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  cwd: string;
  /** Aborted by Ctrl-C and termination signals (InterruptedError) and a closed stdout (BrokenPipeError). */
  signal: AbortSignal;
}

/** The real process; aborts the controller once nobody reads stdout any more. */
export function processSurroundings(controller: AbortController): Surroundings {
  const { env, platform } = process;
  const stderr = (): NodeJS.WriteStream => process.stderr;
  return {
    stdout: openTextStream({
      descriptor: 1,
      platform,
      open: () => process.stdout,
      onClosed: (error) => controller.abort(error.code === "EPIPE" ? new BrokenPipeError("stdout was closed") : error),
    }),
    // Where stderr is gone, nobody is left to be told.
    stderr: openTextStream({ descriptor: 2, platform, open: stderr, onClosed: () => {} }),
    streams: { stdin: () => process.stdin, stderr },
    env,
    platform,
    cwd: process.cwd(),
    signal: controller.signal,
  };
}

/** Everything that a command takes from outside. Each command gets the one context of the process. */
export class Context {
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly cwd: string;
  readonly signal: AbortSignal;
  readonly version: string = __VERSION__;
  readonly globals: GlobalOptions;
  readonly output: Output;
  readonly prompts: Prompts;
  readonly #streams: Surroundings["streams"];
  readonly #input: Input;
  #settings: Settings | undefined;
  #connection: Promise<Connection> | undefined;
  #client: Promise<Client> | undefined;

  private constructor(surroundings: Surroundings, globals: GlobalOptions, output: Output) {
    this.stdout = surroundings.stdout;
    this.stderr = surroundings.stderr;
    this.env = surroundings.env;
    this.platform = surroundings.platform;
    this.cwd = surroundings.cwd;
    this.signal = surroundings.signal;
    this.globals = globals;
    this.output = output;
    this.#streams = surroundings.streams;
    this.#input = new Input(this.#streams.stdin, this.signal);
    this.prompts = createPrompts({
      possible: () => this.interactive,
      ...this.#streams,
      signal: this.signal,
    });
  }

  static async create(surroundings: Surroundings, globals: GlobalOptions): Promise<Context> {
    const { stdout, stderr, env, streams } = surroundings;
    if (globals.jq !== undefined && !globals.json) throw new UsageError("--jq works on JSON: add --json");
    const output = await Output.create({
      stdout,
      stderr,
      colors: {
        stdout: colorLevel({ flag: globals.color, env, stream: stdout }),
        stderr: colorLevel({ flag: globals.color, env, stream: stderr }),
      },
      json: globals.json,
      quiet: globals.quiet,
      fields: globals.fields,
      jq: globals.jq,
      animate: stderr.isTTY && env["TERM"] !== "dumb" && !env["CI"],
      openStderr: streams.stderr,
      now: () => Date.now(),
    });
    return new Context(surroundings, globals, output);
  }

  /** The same surroundings under other flags. */
  withGlobals(globals: GlobalOptions): Context {
    return this.#with(globals, this.signal);
  }

  /** The same, for work that ends sooner than the command. */
  withSignal(signal: AbortSignal): Context {
    return this.#with(this.globals, signal);
  }

  /** True where a person can be asked: terminals on both ends, and neither --no-input nor SERVICE_NO_INPUT. */
  get interactive(): boolean {
    return this.stdin.isTTY && this.stderr.isTTY && this.globals.input && !this.env["SERVICE_NO_INPUT"];
  }

  /** True where traces are wanted: --debug or SERVICE_DEBUG. */
  get debug(): boolean {
    return this.globals.debug || Boolean(this.env["SERVICE_DEBUG"]);
  }

  /** Keys and data from outside; opening it takes some milliseconds. */
  get stdin(): NodeJS.ReadStream {
    return this.#streams.stdin();
  }

  /** Unix milliseconds. */
  now(): number {
    return Date.now();
  }

  /** A number in [0, 1), for jitter. */
  random(): number {
    return Math.random();
  }

  uuid(): string {
    // Loaded at its first use: most commands only read.
    return process.getBuiltinModule("node:crypto").randomUUID();
  }

  /** Waits, unless the person interrupts: then it rejects with the reason. */
  async sleep(milliseconds: number): Promise<void> {
    const { setTimeout: delay } = await import("node:timers/promises");
    await delay(milliseconds, undefined, { signal: this.signal }).catch((error: unknown) => {
      throw this.signal.aborted ? this.signal.reason : error;
    });
  }

  get settingsDirectory(): string {
    return settingsDirectory(this.env, this.platform);
  }

  /** The stored settings, read once. */
  get settings(): Settings {
    this.#settings ??= this.#readSettings();
    return this.#settings;
  }

  /** Changes the stored settings under the lock that all processes share. */
  async updateSettings(change: (settings: Settings) => Settings): Promise<Settings> {
    const { updateSettings } = await import("./settings/write.ts");
    this.#settings = await updateSettings(this.settingsDirectory, change);
    return this.#settings;
  }

  /** Where this command speaks to and as whom; a missing credential is no error yet. */
  connection(): Promise<Connection> {
    this.#connection ??= this.#resolveConnection();
    return this.#connection;
  }

  /** The client for the connection. Throws NotSignedInError where there is no credential. */
  client(): Promise<Client> {
    this.#client ??= this.#createClient();
    return this.#client;
  }

  /** All of a file, or of stdin where the name is `-`; `flag` is what named it. */
  readInput(name: string, flag: string): Promise<Buffer> {
    return this.#input.read(name, flag);
  }

  /** Opens a page in the browser; false where that cannot be done. The URL should be printed in any case. */
  async openBrowser(url: string): Promise<boolean> {
    const { openInBrowser } = await import("./browser.ts");
    return await openInBrowser(url);
  }

  /** The key that `--api-key-stdin` hands over; a person types it unseen. */
  async readApiKey(): Promise<string> {
    if (this.stdin.isTTY) {
      return (await this.prompts.secret({ message: "API key", flag: "--api-key-stdin with a pipe" })).trim();
    }
    const key = (await this.#input.readStdin("--api-key-stdin")).toString("utf8").trim();
    if (key === "") throw new UsageError("--api-key-stdin: nothing came on standard input");
    return key;
  }

  #with(globals: GlobalOptions, signal: AbortSignal): Context {
    const { stdout, stderr, env, platform, cwd } = this;
    return new Context({ stdout, stderr, streams: this.#streams, env, platform, cwd, signal }, globals, this.output);
  }

  #readSettings(): Settings {
    let directory: string;
    try {
      directory = this.settingsDirectory;
    } catch {
      // Without a home folder nothing can be stored, but variables and flags still do.
      return emptySettings();
    }
    const settings = readSettings(directory);
    if (isReadableByOthers(directory, this.platform)) {
      this.output.warn(
        `${directory}/config.json can be read by other users. Close it: chmod 600 ${directory}/config.json, and roll its keys where others may have looked.`,
      );
    }
    return settings;
  }

  async #resolveConnection(): Promise<Connection> {
    const { settings, globals } = this;
    const keyFromStdin = globals.apiKeyStdin ? await this.readApiKey() : undefined;
    const connection = resolveConnection({ flags: globals, env: this.env, settings, keyFromStdin });
    const { profile } = connection;
    if (profile.source !== "default" && profileNamed(settings, profile.value) === undefined) {
      const names = Object.keys(settings.profiles);
      throw new UserError(`There is no profile "${profile.value}" (from ${profile.name})`, {
        hint: `${names.length === 0 ? "No profile is stored yet." : `Profiles: ${names.join(", ")}.`} Make one: service login --profile ${profile.value}`,
        code: "no_profile",
      });
    }
    return connection;
  }

  async #createClient(): Promise<Client> {
    const connection = await this.connection();
    return await this.clientFor(connection.baseUrl.value, this.credentialsOf(connection));
  }

  /** What signs the requests of a connection, and renews itself where it can end. Throws NotSignedInError without any. */
  credentialsOf(connection: Connection): string | CredentialSource {
    const { value } = requireCredential(connection);
    return credentialSource(this, value, {
      profile: connection.profile.value,
      environment: connection.environment,
    });
  }

  /**
   * A client for a platform and credential of the caller's choice, as `login` needs before anything is stored. `signal`
   * ends its requests, for one that may not wait as long as others.
   */
  async clientFor(
    baseUrl: string,
    credential: string | CredentialSource | undefined,
    signal = this.signal,
  ): Promise<Client> {
    const { connect } = await import("./connect.ts");
    return connect(this, baseUrl, credential, signal);
  }
}
