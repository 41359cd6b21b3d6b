// The platform and the listeners of a soak run: real processes that are killed and started again.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../bin/service.js", import.meta.url));
/** `service serve --help` promises ten seconds for what is in flight. */
const STOP_MILLISECONDS = 30_000;

/** A process that restarts after each exit, and keeps the first line of its first life. */
export class Phoenix {
  lives = 0;
  child = undefined;
  ready = undefined;
  /** How lives ended that were not stopped: there must be none. */
  falls = [];
  /** The exit code or signal of the last run. */
  end = undefined;
  /** The address of the current life's inspector. */
  inspector = undefined;
  #isWanted = false;
  /** @type {Promise<void> | undefined} */
  #rising = undefined;

  /** `onLine` is called with each line of standard output after the first, and the number of the life. */
  constructor(name, args, env, onLine = () => {}) {
    this.name = name;
    this.args = args;
    this.env = env;
    this.onLine = onLine;
    process.once("exit", () => this.child?.kill("SIGKILL"));
  }

  async start() {
    this.#rising ??= this.#rise().finally(() => (this.#rising = undefined));
    await this.#rising;
  }

  async #rise() {
    this.#isWanted = true;
    this.inspector = undefined;
    const child = spawn(process.execPath, ["--inspect=127.0.0.1:0", BIN, ...this.args], {
      env: { PATH: process.env.PATH, ...this.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.child = child;
    let complaints = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      complaints = (complaints + text).slice(-4000);
      this.inspector = /Debugger listening on (ws:\S+)\s/.exec(complaints)?.[1] ?? this.inspector;
    });
    const lines = createInterface(child.stdout);
    const ended = once(child, "exit").then(([code, signal]) => {
      throw new Error(`${this.name} ended with ${code ?? signal} before it was ready:\n${complaints}`);
    });
    ended.catch(() => {});
    // Only the first line matters. The last one of a killed process may be incomplete.
    const [line] = await Promise.race([once(lines, "line"), ended]);
    this.ready ??= JSON.parse(line);
    this.lives += 1;
    const life = this.lives;
    lines.on("line", (text) => this.onLine(text, life));
    child.once("exit", (code, signal) => {
      if (!this.#isWanted) return;
      this.falls.push(`${this.name} ended by itself with ${code ?? signal}: ${complaints.trim()}`);
      void this.start();
    });
  }

  /** As a crash would. It restarts as soon as possible. */
  async killAndRestart() {
    await this.#finish("SIGKILL");
    await this.start();
  }

  /** As Ctrl-C would. A process that does not exit is killed, which its exit status shows. */
  async stop() {
    const patience = setTimeout(() => this.child.kill("SIGKILL"), STOP_MILLISECONDS);
    await this.#finish("SIGINT");
    clearTimeout(patience);
  }

  async #finish(signal) {
    await this.#rising;
    this.#isWanted = false;
    const { child } = this;
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, "exit");
      child.kill(signal);
      await ended;
    }
    this.end = child.exitCode ?? child.signalCode;
  }
}
