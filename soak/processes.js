// The platform and the listeners of a soak run: real processes that are killed and started again.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../bin/service.js", import.meta.url));

/** A process that comes back after each kill, and remembers what its first line of each life said. */
export class Phoenix {
  lives = 0;
  child = undefined;
  ready = undefined;
  /** Set to hear of lines after the first one. */
  onLine = () => {};

  constructor(name, args, env) {
    this.name = name;
    this.args = args;
    this.env = env;
    process.once("exit", () => this.child?.kill("SIGKILL"));
  }

  async start() {
    const child = spawn(process.execPath, [BIN, ...this.args], {
      env: { PATH: process.env.PATH, ...this.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let complaints = "";
    child.stderr.setEncoding("utf8").on("data", (text) => (complaints = (complaints + text).slice(-4000)));
    const lines = createInterface(child.stdout);
    const ended = once(child, "exit").then(([code]) => {
      throw new Error(`${this.name} ended with ${code} before it was ready:\n${complaints}`);
    });
    ended.catch(() => {});
    const ready = new Promise((resolve) => {
      lines.on("line", (line) => {
        const record = JSON.parse(line);
        if (record.event === "ready") resolve(record);
        this.onLine(record);
      });
    });
    const first = await Promise.race([ready, ended]);
    this.ready ??= first;
    this.child = child;
    this.lives += 1;
  }

  /** As a crash would; back as soon as it can be. */
  async killAndRestart() {
    await this.#end("SIGKILL");
    await this.start();
  }

  /** Resolves with the exit code. */
  stop() {
    return this.#end("SIGINT");
  }

  async #end(signal) {
    const ended = once(this.child, "exit");
    this.child.kill(signal);
    const [code] = await ended;
    return code;
  }
}
