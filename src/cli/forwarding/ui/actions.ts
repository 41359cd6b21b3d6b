import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { urlOf } from "../../../client/base-url.ts";
import type { Client } from "../../../client/http.ts";
import { rewriteJson } from "../../../contract/rewrite-json.ts";
import { kindOfId } from "../../../contract/ids.ts";
import { shellCommand, shellWord } from "../../../contract/shell-command.ts";
import { isRecord, parseJson } from "../../../contract/json.ts";
import { counted } from "../../../contract/words.ts";
import { replayOf } from "../../../explain/resend.ts";
import { type Finding, isNote, isTrouble, labelOf } from "../../../explain/finding.ts";
import type { RelayedEvent } from "../../../relay/delivery.ts";
import { headerPairs } from "../../../relay/forward-headers.ts";
import { whyNoBrowser } from "../../browser.ts";
import type { Context } from "../../context.ts";
import type { Explanation } from "../../explanation.ts";
import type { Receivers } from "../options.ts";
import type { Span } from "../../terminal/styles.ts";
import type { FullScreen } from "../../terminal/full-screen.ts";
import { UserError } from "../../errors.ts";
import { editJson, editText } from "../../process/editor.ts";
import { escapeReferences } from "../../triggering/fixture.ts";
import { clockTime } from "../../terminal/traffic.ts";
import type { Row } from "./history.ts";
import type { Model } from "./model.ts";

/** Terminals ignore longer clipboard contents. */
const MAX_CLIPBOARD_BYTES = 100_000;

/** R resends more failed events only when it is pressed again. */
const MAX_UNASKED = 10;

/** The actions of keys on the selected event. Each reports its result. */
export class Actions {
  readonly #context: Context;
  readonly #model: Model;
  readonly #screen: FullScreen;
  /** How many failed events the last R has asked about. */
  #askedAbout = 0;

  constructor(context: Context, model: Model, screen: FullScreen) {
    this.#context = context;
    this.#model = model;
    this.#screen = screen;
  }

  /** Resolves once it is done: for an edit, once the editor has exited and the screen is restored. Never rejects. */
  async press(key: string, row: Row, isOver: () => boolean): Promise<void> {
    try {
      if (key === "r") this.#send(row.event, row);
      else if (key === "w") await this.#explain(row);
      else if (key === "e") await this.#edit(row, isOver);
      else if (key === "y") this.#copyAsCurl(row);
      else if (key === "t") this.#saveAsFixture(row);
      else if (key === "o") await this.#openInDashboard(row);
    } catch (error) {
      this.#model.say((error as Error).message, "warn");
    }
  }

  /** Resends every shown event whose last delivery failed. */
  resendFailed(): void {
    const { shown: failed, hidden } = this.#model.failed();
    if (failed.length === 0 && hidden > 0) {
      return this.#model.say(`Nothing to resend: the filter hides ${counted(hidden, "failed event")}`);
    }
    if (failed.length === 0) {
      const { resolved } = this.#model.history.totals;
      return this.#model.say(`Nothing to resend: ${resolved > 0 ? "no failure is left" : "no delivery has failed"}`);
    }
    if (failed.length > MAX_UNASKED && this.#askedAbout !== failed.length) {
      this.#askedAbout = failed.length;
      return this.#model.say(`Press R again to resend ${counted(failed.length, "failed event")}`, "warn");
    }
    this.#askedAbout = 0;
    try {
      for (const row of failed) this.#send(row.event, row);
      const more = hidden === 0 ? "" : `, not the ${hidden} that the filter hides`;
      if (failed.length > 1 || hidden > 0)
        this.#model.say(`Resending ${counted(failed.length, "failed event")}${more}`);
    } catch (error) {
      this.#model.say((error as Error).message, "warn");
    }
  }

  /** Shows in the details what `service why` says. */
  async #explain(row: Row): Promise<void> {
    const { id } = row.event;
    this.#model.say(`Looking up ${id}`);
    const { explain } = await import("../../explanation.ts");
    const { findingLines } = await import("../../finding-lines.ts");
    const client = await this.#context.client();
    // A spinner would disturb the screen.
    const quiet: Client = { ...client, request: (call) => client.request({ ...call, isBackground: true }) };
    const target = await this.#context.projectTarget();
    const { output } = this.#context;
    const runnable = (text: string): string => output.runnable(text);
    const time = (timestamp: string): string => clockTime(Date.parse(timestamp));
    const { explanation } = await explain(quiet, id, { runnable, target, time });
    const isResend = ({ subject, fix }: Finding): boolean =>
      [replayOf(id), shellCommand`service deliveries retry ${subject}`].some((command) => fix === runnable(command));
    const { own, failed } = ownFindings(explanation, this.#model.feed.receivers);
    const others = runnable(shellCommand`service why ${id}`);
    row.explanation = [
      ...own.flatMap((finding, i) => {
        const { action } = finding;
        const shown = isResend(finding) ? { ...finding, action: `${action}: press r`, fix: null } : finding;
        return [...findingLines(shown, i === 0 ? labelOf(finding) : "Also", Infinity), []];
      }),
      ...(failed === 0 ? [] : [[[`${counted(failed, "other receiver")} failed: `], [others, "accent"]] as Span[], []]),
    ];
    row.version += 1;
    this.#model.message = undefined;
    if (this.#model.selected === row) this.#model.show("details");
    this.#model.scroll = 0;
  }

  async #edit({ event }: Row, isOver: () => boolean): Promise<void> {
    this.#model.feed.assertEditable(event);
    this.#screen.leave();
    try {
      this.#send(this.#model.feed.edited(event, await editBody(event.body, this.#context)));
    } finally {
      if (!isOver()) this.#screen.enter();
    }
  }

  #copyAsCurl({ event, outcome }: Row): void {
    if (outcome === undefined) return this.#model.say("Cannot copy: no request was sent yet", "warn");
    if (event.bytes !== undefined) return this.#model.say("Cannot copy: the payload is not text", "warn");
    const headers = this.#model.feed.sign(event, outcome.headers);
    const encoded = Buffer.from(curlCommand(outcome.url, headers, event.body)).toString("base64");
    if (encoded.length > MAX_CLIPBOARD_BYTES) {
      return this.#model.say("Cannot copy: the payload is too large for a terminal's clipboard", "warn");
    }
    this.#screen.send(`\u001b]52;c;${encoded}\u0007`);
    this.#model.say("Sent to the terminal's clipboard as cURL (OSC 52)", "good");
  }

  #saveAsFixture({ event }: Row): void {
    try {
      const name = saveFixture(event, this.#context.cwd);
      const command = shellCommand`service trigger --fixture ${name}`;
      this.#model.say(`Saved ${name}. To create this event: ${this.#context.output.runnable(command)}`, "good");
    } catch (error) {
      this.#model.say(`Cannot save a fixture: ${(error as Error).message}`, "bad");
    }
  }

  async #openInDashboard({ event }: Row): Promise<void> {
    const { href } = urlOf(this.#model.feed.platform!, `/dashboard/sandbox/events/${encodeURIComponent(event.id)}`);
    const reason = whyNoBrowser(this.#context);
    if (reason === undefined && (await this.#context.openBrowser(href)))
      return this.#model.say(`Opened ${href}`, "good");
    this.#model.say(`Could not open a browser${reason === undefined ? "" : ` ${reason}`}: ${href}`, "warn");
  }

  /** Sends an event, as another attempt of a row, or else as an edited one. */
  #send(event: Row["event"], row?: Row): void {
    const number = this.#model.feed.resend(event, this.#model.history.attemptsOf(event.id) + 1);
    if (number === undefined) {
      const { target, routes } = this.#model.feed.receivers;
      const isPrinting = target === undefined && routes.length === 0;
      const reason = isPrinting ? "start again with --forward-to" : "no --forward-to target matches this event";
      return this.#model.say(`Cannot resend: ${reason}`, "warn");
    }
    const how = this.#model.feed.keepsSignature(event) ? " as it was received: its signature is not valid" : "";
    this.#model.resending(row ?? this.#model.addEdited(event), number, how);
    this.#model.say(this.#model.paused ? "Resent once forwarding resumes (p)" : `Resending ${event.id}`);
  }
}

/**
 * Returns what concerns this session's targets, and the number of other receivers that failed: those of other sessions,
 * and endpoints. A session that has no part in the event gets everything.
 */
function ownFindings({ findings, deliveries }: Explanation, { target, routes }: Receivers) {
  const targets = new Set([target, ...routes.map(({ url }) => url)].map((url) => url?.href));
  const isOthers = ({ subject }: Finding): boolean => {
    const delivery = deliveries.find(({ id }) => id === subject);
    const isOwn = delivery === undefined || targets.has(delivery.target ?? "");
    return !isOwn || kindOfId(subject) === "webhook_endpoint";
  };
  const all = findings.filter((finding) => !isNote(finding));
  const own = all.filter((finding) => finding.code !== "undelivered" && !isOthers(finding));
  if (own.length === 0) return { own: all, failed: 0 };
  return { own, failed: all.filter((finding) => isOthers(finding) && isTrouble(finding)).length };
}

/** Returns the body as the user saved it, on one line if it was. Throws UserError if nothing is to be sent. */
async function editBody(body: string, context: Context): Promise<string> {
  const isObject = isRecord(parseJson(body));
  // One long line is hard to edit. What was formatted before is sent byte for byte.
  const isOneLine = isObject && !body.trim().includes("\n");
  const same = (value: unknown) => value;
  const shown = isOneLine ? `${rewriteJson(body, same, 2)}\n` : body;
  const saved = isObject ? await editJson(shown, "payload", context) : await editText(shown, "payload.txt", context);
  // Editors end the last line.
  const edited = shown.endsWith("\n") ? saved : saved.replace(/\r?\n$/, "");
  // Whether the last line of one-line JSON ends does not change what is sent.
  const isSame = isOneLine ? edited.trimEnd() === shown.trimEnd() : edited === shown;
  if (isSame) throw new UserError("Nothing was sent: the payload is unchanged");
  return isOneLine ? rewriteJson(edited, same) : edited;
}

/** Returns a command for a POSIX shell that sends a delivery. */
function curlCommand(url: URL, headers: readonly string[], body: string): string {
  const parts = [`curl -X POST ${shellWord(url.href)}`];
  for (const [name, value] of headerPairs(headers)) parts.push(`-H ${shellWord(`${name}: ${value}`)}`);
  // Unlike --data, this does not treat a leading @ as a file name.
  parts.push(`--data-raw ${shellWord(body)}`);
  return parts.join(" \\\n  ");
}

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
