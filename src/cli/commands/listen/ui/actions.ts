import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { urlOf } from "../../../../client/base-url.ts";
import { HEADERS } from "../../../../contract/headers.ts";
import { shellCommand, shellWord } from "../../../../contract/shell-command.ts";
import type { RelayedEvent } from "../../../../relay/delivery.ts";
import type { ForwardedReport } from "../../../../relay/report.ts";
import type { Session } from "../../../../relay/session.ts";
import { sign } from "../../../../webhooks/index.ts";
import { whyNoBrowser } from "../../../browser-availability.ts";
import type { Context } from "../../../context.ts";
import type { FullScreen } from "../../../terminal/full-screen.ts";
import { editJson } from "../../trigger/edit.ts";
import { escapeReferences } from "../../trigger/fixture/fixture.ts";
import type { Row } from "./history.ts";
import type { Model } from "./model.ts";
import { rewriteJson } from "./rewrite-json.ts";

/** Terminals ignore longer clipboard contents. */
const MAX_CLIPBOARD_BYTES = 100_000;

export interface ActionsOptions {
  context: Context;
  model: Model;
  screen: FullScreen;
  session: Session;
  /** URL of the platform. */
  baseUrl: URL;
}

/** The actions of keys on the selected event. Each reports its result. */
export class Actions {
  readonly #options: ActionsOptions;

  constructor(options: ActionsOptions) {
    this.#options = options;
  }

  resend({ event }: Row): void {
    this.#send(event, "resent");
  }

  /** Resolves once the editor has exited and the screen is restored. */
  async edit({ event }: Row, isOver: () => boolean): Promise<void> {
    const { context, screen } = this.#options;
    let saved: string;
    screen.leave();
    try {
      saved = await editJson(`${rewriteJson(event.body, unchanged, 2)}\n`, context);
    } catch (error) {
      return this.#say((error as Error).message, "warn");
    } finally {
      if (!isOver()) screen.enter();
    }
    const { id = event.id, type = event.type } = JSON.parse(saved) as Record<string, unknown>;
    this.#send({ id: String(id), type: String(type), body: rewriteJson(saved, unchanged) }, "edited");
  }

  copyAsCurl({ event, outcome }: Row): void {
    const { context, model, screen } = this.#options;
    if (outcome === undefined) return this.#say("Cannot copy: no request was sent yet", "warn");
    const secret = model.setup.secret ?? model.ready.secret;
    const timestamp = Math.floor(context.now() / 1000);
    const encoded = Buffer.from(curlCommand(outcome, event.body, { secret, timestamp })).toString("base64");
    if (encoded.length > MAX_CLIPBOARD_BYTES) {
      return this.#say("Cannot copy: the payload is too large for a terminal's clipboard", "warn");
    }
    screen.send(`\u001b]52;c;${encoded}\u0007`);
    this.#say("Copied as cURL, if the terminal allows programs to copy (OSC 52).", "good");
  }

  saveAsFixture({ event }: Row): void {
    try {
      const name = saveFixture(event, this.#options.context.cwd);
      this.#say(`Saved ${name}. ${shellCommand`To create this event: service trigger --fixture ${name}`}`, "good");
    } catch (error) {
      this.#say(`Cannot save a fixture: ${(error as Error).message}`, "bad");
    }
  }

  async openInDashboard({ event }: Row): Promise<void> {
    const { context, baseUrl } = this.#options;
    const { href } = urlOf(baseUrl, `/dashboard/sandbox/events/${encodeURIComponent(event.id)}`);
    const reason = whyNoBrowser(context);
    if (reason === undefined && (await context.openBrowser(href))) return this.#say(`Opened ${href}`, "good");
    this.#say(`Could not open a browser${reason === undefined ? "" : ` ${reason}`}: ${href}`, "warn");
  }

  #send(event: Row["event"], copy: "resent" | "edited"): void {
    const { model, session } = this.#options;
    const number = session.resend(event);
    if (number === undefined) return this.#say("Cannot resend: no --forward-to target matches this event", "warn");
    const row = model.history.resent(event, copy, number, model.clock.now());
    model.selectNewest(row);
    this.#say(model.paused ? "Resent once forwarding resumes (p)" : `Resent ${event.id}`);
  }

  #say(text: string, style?: "good" | "warn" | "bad"): void {
    const { model } = this.#options;
    model.say(text, model.clock.now(), style);
  }
}

/** Returns a command for a POSIX shell that sends a delivery again, signed at this time in Unix seconds. */
function curlCommand(
  { url, headers }: Pick<ForwardedReport, "url" | "headers">,
  body: string,
  { secret, timestamp }: { secret: string; timestamp: number },
): string {
  const parts = [`curl -X POST ${shellWord(url.href)}`];
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const isSignature = headers[i] === HEADERS.signature;
    const value = isSignature ? sign({ payload: body, secrets: secret, timestamp }) : headers[i + 1]!;
    parts.push(`-H ${shellWord(`${headers[i]!}: ${value}`)}`);
  }
  // Unlike --data, this does not treat a leading @ as a file name.
  parts.push(`--data-raw ${shellWord(body)}`);
  return parts.join(" \\\n  ");
}

const unchanged = (value: unknown): unknown => value;

/** Maximum number of file names to try. */
const MAX_NAMES = 1_000;

/**
 * Saves an event as a fixture that creates an event of the same type with the same data. Returns the name of the new
 * file in this folder: the event type, with a number if there is one already.
 */
function saveFixture({ type, body }: RelayedEvent, folder: string): string {
  const callsOf = (event: unknown) => {
    const { data = {} } = event as { data?: unknown };
    return [{ method: "POST", path: "/v1/events", body: { type, data: escapeReferences(data) } }];
  };
  const text = `${rewriteJson(body, callsOf, 2)}\n`;
  const safeType = type.replaceAll(/[^\w.-]/g, "_");
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? `${safeType}.json` : `${safeType}-${number}.json`;
    try {
      // Never overwrites a file. Only the owner can read it, because it contains customer data.
      writeFileSync(join(folder, name), text, { flag: "wx", mode: 0o600 });
      return name;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST" || number === MAX_NAMES) throw error;
    }
  }
}
