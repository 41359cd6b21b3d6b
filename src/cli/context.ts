import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseBaseUrl } from "../client/base-url.ts";
import type { ApiRequest, Client, CredentialSource } from "../client/http.ts";
import { UserError } from "./errors.ts";
import type { GlobalOptions } from "./global-options.ts";
import { createPrompts, Input, type Prompts } from "./input.ts";
import type { ProcessIo } from "./process-io.ts";
import { PROJECT_FILE, projectFolderOf } from "./project/file.ts";
import {
  type Connection,
  assertProfileExists,
  type ProjectPlatform,
  rejectedCredentialHint,
  requireCredential,
  resolveConnection,
  resolveTarget,
  startHint,
} from "./settings/connection.ts";
import { isDue, type Settings, type StoredCredential } from "./settings/profiles.ts";
import { settingsDirectory, storedSettings } from "./settings/read.ts";
import { Output } from "./terminal/output.ts";
import { colorLevel } from "./terminal/styles.ts";
import type { TextStream } from "./terminal/text-stream.ts";
import type { CredentialName, RefreshContext } from "./credentials/refresh.ts";

/** Input, output, settings and API client of a command. A process has one context. */
export class Context {
  readonly stdout: TextStream;
  readonly stderr: TextStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** Does what Ctrl-C does. */
  readonly interrupt: () => void;
  readonly version: string = __VERSION__;
  readonly globals: GlobalOptions;
  readonly output: Output;
  readonly prompts: Prompts;
  readonly #io: ProcessIo;
  readonly #input: Input;
  #settings: Settings | undefined;
  #projectFolder: string | undefined;
  #project: Promise<ProjectPlatform | undefined> | undefined;
  #connection: Promise<Connection> | undefined;
  #client: Promise<Client> | undefined;

  private constructor(io: ProcessIo, globals: GlobalOptions, output: Output) {
    this.stdout = io.stdout;
    this.stderr = io.stderr;
    this.env = io.env;
    this.platform = io.platform;
    this.cwd = io.cwd;
    this.signal = io.signal;
    this.interrupt = io.interrupt;
    this.globals = globals;
    this.output = output;
    this.#io = io;
    this.#input = new Input(io);
    this.prompts = createPrompts({ possible: () => this.interactive, ...io.streams, signal: io.signal });
  }

  /** `animate` is false if a spinner would disturb other output. */
  static async create(io: ProcessIo, globals: GlobalOptions, animate = true): Promise<Context> {
    const { stdout, stderr, env, streams } = io;
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
      animate: animate && stderr.isTTY && env["TERM"] !== "dumb" && !env["CI"],
      openStderr: streams.stderr,
      runnable: io.runnable,
      now: () => Date.now(),
    });
    return new Context(io, globals, output);
  }

  withGlobals(globals: GlobalOptions): Context {
    return new Context(this.#io, globals, this.output);
  }

  /** Returns this context with another signal, for work with a shorter deadline. */
  withSignal(signal: AbortSignal): Context {
    const context = new Context({ ...this.#io, signal }, this.globals, this.output);
    context.#connection = this.#connection;
    return context;
  }

  /**
   * Returns this context, in the other environment if the profile has a credential for that one only: for commands that
   * show it.
   */
  async whereSignedIn(): Promise<Context> {
    const { isOfOther, environment } = await this.connection();
    return isOfOther ? this.withGlobals({ ...this.globals, live: environment === "sandbox" }) : this;
  }

  /** Returns a context with other flags, for a part of the work that prints on streams of its own. */
  partWith(globals: GlobalOptions, streams: Pick<ProcessIo, "stdout" | "stderr">): Promise<Context> {
    return Context.create({ ...this.#io, ...streams }, globals, false);
  }

  /** Returns true if prompts are possible: terminals on both ends, and neither --no-input, SERVICE_NO_INPUT nor CI. */
  get interactive(): boolean {
    return (
      this.stdin.isTTY && this.stderr.isTTY && this.globals.input && !this.env["SERVICE_NO_INPUT"] && !this.env["CI"]
    );
  }

  /** Returns true for debug output: --debug or SERVICE_DEBUG. */
  get debug(): boolean {
    return this.globals.debug || Boolean(this.env["SERVICE_DEBUG"]);
  }

  /** Reads keys and data from outside. Opening it takes some milliseconds. */
  get stdin(): NodeJS.ReadStream {
    return this.#io.streams.stdin();
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

  /** Waits. Rejects with the reason if the user interrupts. */
  async sleep(milliseconds: number): Promise<void> {
    const { setTimeout: delay } = await import("node:timers/promises");
    await delay(milliseconds, undefined, { signal: this.signal }).catch((error: unknown) => {
      throw this.signal.aborted ? this.signal.reason : error;
    });
  }

  /** The folder of settings and credentials. Throws UserError if the user has no home folder. */
  get settingsDirectory(): string {
    return settingsDirectory(this.env, this.platform);
  }

  /** The stored settings, read once. Throws SettingsFileError for an invalid file. */
  get settings(): Settings {
    return (this.#settings ??= storedSettings(this.env, this.platform, (text) => this.output.warn(text)));
  }

  /** Changes the stored settings under the lock that all processes share. */
  async updateSettings(change: (settings: Settings) => Settings): Promise<Settings> {
    const { updateSettings } = await import("./settings/write.ts");
    return (this.#settings = await updateSettings(this.settingsDirectory, change));
  }

  /** The nearest folder with a project file, from the working folder upward; else the working folder. */
  get projectFolder(): string {
    return (this.#projectFolder ??= projectFolderOf(this.cwd));
  }

  /** Returns this context with the project's folder as the working folder. */
  inProjectFolder(): Context {
    if (this.projectFolder === this.cwd) return this;
    return new Context({ ...this.#io, cwd: this.projectFolder }, this.globals, this.output);
  }

  get hasProjectFile(): boolean {
    return existsSync(join(this.projectFolder, PROJECT_FILE));
  }

  /**
   * Returns where the project file forwards events, for suggestions; undefined if it does not, or to another machine. An
   * error in the file does not matter here.
   */
  async projectTarget(): Promise<string | undefined> {
    if (!this.hasProjectFile) return undefined;
    const { localTargetOf } = await import("./project/remote-receivers.ts");
    const { readProject } = await import("./project/read.ts");
    try {
      return localTargetOf(readProject(this.projectFolder, "forward")?.project ?? {});
    } catch {
      return undefined;
    }
  }

  /** Returns the platform that the project file names. Throws ProjectFileError. */
  project(): Promise<ProjectPlatform | undefined> {
    return (this.#project ??= this.#findProject());
  }

  /** Returns the platform's URLs and the credential, which may be missing. */
  connection(): Promise<Connection> {
    return (this.#connection ??= this.#openConnection());
  }

  /** Returns the client for the connection. Throws NotSignedInError without a credential. */
  client(): Promise<Client> {
    return (this.#client ??= this.#openClient());
  }

  /** Sends one request to the platform. Returns the body of the response. */
  async request<Body>(request: ApiRequest): Promise<Body> {
    const client = await this.client();
    const { body } = await client.request<Body>(request);
    return body;
  }

  /** Reads a whole file, or stdin if the name is `-`. `flag` names the source. */
  readInput(name: string, flag: string): Promise<Buffer> {
    return this.#input.read(name, flag);
  }

  /** Opens a page in the browser. Returns false if it cannot. Print the URL in any case. */
  async openBrowser(url: string): Promise<boolean> {
    return await (await import("./browser.ts")).openInBrowser(url);
  }

  /** Reads the key of `--api-key-stdin`; typing it is not echoed. */
  readApiKey(): Promise<string> {
    return this.#input.readApiKey(this.prompts);
  }

  /**
   * Returns the credential of a connection, which renews itself if it can expire. Throws NotSignedInError without one.
   */
  async credentialsOf(connection: Connection): Promise<string | CredentialSource> {
    const { profile, environment, baseUrl, credential } = connection;
    const isMissing = credential === undefined && !connection.isOfOther;
    const hasNoPlatform =
      isMissing && (await (await import("../network/port-probe.ts")).isDown(new URL(baseUrl.value)));
    const { value } = requireCredential(connection, this, hasNoPlatform);
    return credentialSource(this, value, { profile: profile.value, environment });
  }

  /**
   * Creates a client for a given platform and credential, as `login` needs before anything is stored. `signal` ends its
   * requests, for a deadline of its own.
   */
  async clientFor(
    baseUrl: string,
    credential: string | CredentialSource | undefined,
    signal = this.signal,
  ): Promise<Client> {
    const { connect } = await import("./connect.ts");
    return connect(this, baseUrl, credential, signal);
  }

  /** Throws UserError if the requested profile does not exist. */
  async #openConnection(): Promise<Connection> {
    const { settings, globals, env } = this;
    const keyFromStdin = globals.apiKeyStdin ? await this.readApiKey() : undefined;
    const project = await this.project();
    // Nothing is said about the credential for a URL that is none.
    parseBaseUrl(resolveTarget({ flags: globals, env, settings, project }).baseUrl.value, globals);
    const connection = resolveConnection({ flags: globals, env, settings, project, keyFromStdin });
    assertProfileExists(connection.profile, settings);
    return connection;
  }

  /** The parser is loaded only if there is a file. Errors in the file do not matter if a flag or variable wins. */
  async #findProject(): Promise<ProjectPlatform | undefined> {
    if (!this.hasProjectFile) return undefined;
    const { findProjectPlatform } = await import("./project/platform.ts");
    try {
      return findProjectPlatform(this.projectFolder);
    } catch (error) {
      if (error instanceof UserError && (this.globals.baseUrl ?? this.env["SERVICE_BASE_URL"])) return undefined;
      throw error;
    }
  }

  async #openClient(): Promise<Client> {
    const connection = await this.connection();
    const client = await this.clientFor(connection.baseUrl.value, await this.credentialsOf(connection));
    return {
      baseUrl: client.baseUrl,
      request: (call) =>
        client.request<never>(call).catch((error: Error & { status?: number; failure?: string }) => {
          if (error.status === 401) throw Object.assign(error, { hint: rejectedCredentialHint(connection) });
          const isOfProject = error.failure === "refused" && connection.baseUrl.source === "project";
          throw isOfProject ? Object.assign(error, { hint: `${startHint(connection)}.` }) : error;
        }),
    };
  }
}

/**
 * Returns a stored credential as the client uses it. An API key stays as it is. Tokens are renewed shortly before they
 * expire and after a 401, under a lock that all processes share.
 */
function credentialSource(
  context: RefreshContext,
  stored: StoredCredential,
  name: CredentialName,
): string | CredentialSource {
  if (stored.type === "api_key") return stored.api_key;
  let tokens = stored;
  let renewal: Promise<string> | undefined;

  /** Concurrent requests share one renewal. */
  function renew(rejected?: string): Promise<string> {
    renewal ??= refresh(rejected).finally(() => {
      renewal = undefined;
    });
    return renewal;
  }

  async function refresh(rejected: string | undefined): Promise<string> {
    // The OAuth library is loaded only here: a command with a fresh token does not pay for it.
    const { refreshCredentials } = await import("./credentials/refresh.ts");
    tokens = await refreshCredentials(context, name, rejected);
    return tokens.access_token;
  }

  return {
    current: () => (isDue(tokens, context.now()) ? renew() : Promise.resolve(tokens.access_token)),
    renewed: (rejected) => (tokens.access_token === rejected ? renew(rejected) : Promise.resolve(tokens.access_token)),
  };
}
