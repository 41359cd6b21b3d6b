// The platform and the listeners of a soak run: real processes that are killed and started again.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../bin/service.js", import.meta.url));
/** The command says that what is in flight gets ten seconds. */
const STOP_MILLISECONDS = 30_000;

/** A process that comes back after each end, and remembers what its first line of its first life said. */
export class Phoenix {
  lives = 0;
  child = undefined;
  ready = undefined;
  /** How lives ended that nobody asked to end: there must be none. */
  falls = [];
  /** How the last life ended: its exit code, or the signal that it took. */
  end = undefined;
  /** Where the current life's inspector listens. */
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
    // Only the first line matters; the last one of a life that was killed may be half of one.
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

  /** As a crash would; back as soon as it can be. */
  async killAndRestart() {
    await this.#finish("SIGKILL");
    await this.start();
  }

  /** As somebody at the keyboard would; one that does not end is killed, and its end says so. */
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
