import { urlOf } from "../../../../client/base-url.ts";
import type { Session } from "../../../../relay/session.ts";
import { whyNoBrowser } from "../../../browser-availability.ts";
import type { Context } from "../../../context.ts";
import type { FullScreen } from "../../../terminal/full-screen.ts";
import { editObject } from "../../trigger/edit.ts";
import { curlCommand } from "./curl.ts";
import { saveFixture } from "./event-fixture.ts";
import type { Row } from "./history.ts";
import type { Model } from "./model.ts";

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
    let object: Record<string, unknown>;
    screen.leave();
    try {
      object = await editObject(JSON.parse(event.body) as Record<string, unknown>, context);
    } catch (error) {
      return this.#say((error as Error).message, "warn");
    } finally {
      if (!isOver()) screen.enter();
    }
    const { id = event.id, type = event.type } = object;
    this.#send({ id: String(id), type: String(type), body: JSON.stringify(object) }, "edited");
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
      this.#say(`Saved ${name}. To create this event: service trigger --fixture ${name}`, "good");
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
    const { context, model, session } = this.#options;
    const number = session.resend(event);
    if (number === undefined) return this.#say("Cannot resend: no --forward-to target matches this event", "warn");
    const row = model.history.resent(event, copy, number, context.now());
    model.selectNewest(row);
    this.#say(model.paused ? "Resent once forwarding resumes (p)" : `Resent ${event.id}`);
  }

  #say(text: string, style?: "good" | "warn" | "bad"): void {
    this.#options.model.say(text, this.#options.context.now(), style);
  }
}
