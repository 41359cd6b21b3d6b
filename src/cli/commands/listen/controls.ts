import { emitKeypressEvents, type Key } from "node:readline";
import type { Report } from "../../../relay/report.ts";
import type { Session } from "../../../relay/session.ts";
import type { Context } from "../../context.ts";
import { detailsOf } from "./details.ts";
import { History } from "./history.ts";
import type { Screen } from "./screen.ts";

/** The keys of `service listen`, and the line at the bottom that tells of them. */
export class Controls {
  readonly #context: Context;
  readonly #screen: Screen;
  readonly #history = new History();
  #session: Session | undefined;
  #paused = false;
  #running = false;
  #drawing = false;

  constructor(context: Context, screen: Screen) {
    this.#context = context;
    this.#screen = screen;
  }

  /** Takes the keyboard; the keys act on this session. */
  start(session: Session): void {
    const { stdin } = this.#context;
    this.#session = session;
    this.#running = true;
    emitKeypressEvents(stdin);
    stdin.on("keypress", this.#onKey);
    stdin.setRawMode(true);
    stdin.resume();
    process.on("SIGCONT", this.#onContinue);
    this.#draw();
  }

  /** Gives the terminal back as it was. */
  stop(): void {
    if (!this.#running) return;
    const { stdin } = this.#context;
    this.#running = false;
    process.off("SIGCONT", this.#onContinue);
    stdin.off("keypress", this.#onKey);
    stdin.setRawMode(false);
    stdin.pause();
    this.#screen.setFooter("");
  }

  /** To be told of every report. */
  notice(report: Report): void {
    if (report.event === "received") this.#history.add({ id: report.id, type: report.type, body: report.body });
    else if (report.event === "forwarded") this.#history.finished(report);
    else return;
    if (this.#drawing) return;
    this.#drawing = true;
    // Once a turn of the event loop, however many events it brings.
    setImmediate(() => {
      this.#drawing = false;
      this.#draw();
    });
  }

  readonly #onKey = (_text: string | undefined, { name, ctrl }: Key): void => {
    // Raw mode takes these from the terminal.
    if (ctrl) return name === "c" ? signal("SIGINT") : name === "z" ? this.#suspend() : undefined;
    if (name === "r") this.#resend();
    else if (name === "up" || name === "down") this.#history.move(name === "up" ? -1 : 1);
    else if (name === "return" || name === "enter") this.#show();
    else if (name === "p") this.#togglePause();
    else if (name === "c") this.#clear();
    else if (name === "q") return signal("SIGINT");
    this.#draw();
  };

  readonly #onContinue = (): void => {
    this.#context.stdin.setRawMode(true);
    this.#screen.setFooter("");
    this.#draw();
  };

  #suspend(): void {
    this.#screen.setFooter("");
    this.#context.stdin.setRawMode(false);
    signal("SIGTSTP");
  }

  #resend(): void {
    const event = this.#history.selected;
    if (event === undefined) return;
    if (!this.#session?.resend(event)) this.#screen.write("  Cannot resend: no --forward-to target matches this event");
  }

  #show(): void {
    const event = this.#history.selected;
    if (event === undefined) return;
    this.#screen.write(detailsOf(event, this.#screen.styles, this.#screen.width()).join("\n"));
  }

  #togglePause(): void {
    this.#paused = !this.#paused;
    if (this.#paused) this.#session?.pause();
    else this.#session?.resume();
  }

  #clear(): void {
    this.#history.clear();
    this.#screen.clear();
  }

  #draw(): void {
    if (this.#running) this.#screen.setFooter(this.#footer());
  }

  /** As many words as fit into one line. */
  #footer(): string {
    const { styles } = this.#screen;
    const event = this.#history.selected;
    const { number, count } = this.#history.place;
    const status = event?.outcome === undefined ? "…" : String(event.outcome.status ?? "failed");
    const state = this.#paused ? "paused  " : "";
    const selected = event === undefined ? "no events yet" : `${number}/${count} ${event.type} ${status}`;
    const id = event === undefined ? "" : ` ${event.id}`;
    const pause = this.#paused ? "p resume" : "p pause";
    const keys = ["r resend", "↑↓ select", "enter details", pause, "c clear", "q quit"];
    const short = "r ↑ ↓ enter p c q";
    const candidates: [string, string][] = [
      [selected + id, keys.join("  ")],
      [selected, keys.join("  ")],
      [selected, short],
      [`${number}/${count}`, short],
    ];
    const room = this.#screen.width() - 1;
    const fits = ([left, right]: [string, string]) => 2 + state.length + left.length + 3 + right.length <= room;
    const [left, right] = candidates.find(fits) ?? ["", ""];
    return `${styles.accent("❯")} ${styles.warn(state)}${left} ${styles.dim(`│ ${right}`)}`;
  }
}

/** As if the terminal had sent it. */
function signal(name: NodeJS.Signals): void {
  process.kill(process.pid, name);
}
