import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Passwords } from "../domain/passwords.ts";
import { sessionCookieName } from "../http/authenticate.ts";
import { PageError } from "../http/pages/page.ts";
import { formOf } from "../http/pages/parameters.ts";
import type { With } from "../tools.ts";
import type { Transaction } from "../storage/database.ts";
import { hasAnyPassword } from "../storage/accounts.ts";
import { deleteSession, findSession, insertSession, type SessionOwner } from "../storage/sessions.ts";
import type { GrantTools } from "./tokens.ts";
import { inProject } from "../../contract/shell-command.ts";
import { isLoopback } from "../../network/connect-options.ts";
import { parseUrl } from "../../network/parse-url.ts";

const SESSION_SECONDS = 7 * 86_400;
const USER_AGENT_LENGTH = 300;
/** The page to return to is remembered for as long as a one-time link works. */
const NEXT_SECONDS = 15 * 60;
/** A browser stores no cookie of more than 4096 characters. */
const MAX_NEXT = 1000;

/** A browser, signed in or not. */
export interface BrowserSession {
  /** The cookie's value. Only its digest is stored, and only for a signed-in user. */
  token: string;
  /** The token of each form, which cannot be known without the cookie. */
  csrf: string;
  userAgent: string | undefined;
  address: string | undefined;
  user: SessionOwner | undefined;
  /** True if nobody can sign in with a password yet. */
  isPasswordless: boolean;
  /** Prints a link that signs the owner in. */
  linkCommand: LinkCommand;
}

export type SignedIn = BrowserSession & { user: SessionOwner };

export function isSignedIn(browser: BrowserSession): browser is SignedIn {
  return browser.user !== undefined;
}

type BrowserSessionTools = GrantTools & With<"publicUrl" | "clientAddress">;

export interface PageTools extends GrantTools, With<"createLimiter" | "clientAddress" | "baseUrl"> {
  browserSessions: BrowserSessions;
  passwords: Passwords;
}

/** Identifies browsers by their cookie. */
export class BrowserSessions {
  readonly #tools: BrowserSessionTools;
  readonly #linkCommand: string | undefined;
  readonly #cookie: string;

  /** `linkCommand` prints a sign-in link on this machine. */
  constructor(tools: BrowserSessionTools, linkCommand: string | undefined) {
    this.#tools = tools;
    this.#linkCommand = linkCommand;
    this.#cookie = sessionCookieName(tools.vault, tools.publicUrl);
  }

  /** Returns the browser of a request. A browser without a cookie gets one, for its forms. */
  async of(request: FastifyRequest, reply: FastifyReply): Promise<BrowserSession> {
    const { database, vault, clock, clientAddress } = this.#tools;
    const known = request.cookies[this.#cookie];
    const userAgent = request.headers["user-agent"];
    const isOurs = known !== undefined && /^[\w-]{43}$/.test(known);
    const token = isOurs ? known : this.#newToken();
    if (!isOurs) this.#setCookie(reply, token);
    const user = isOurs ? await findSession(database, vault.digest(token), clock.now()) : undefined;
    const isPasswordless = user === undefined && !(await hasAnyPassword(database));
    const linkCommand = linkCommandOf(request.raw, this.#linkCommand);
    const address = clientAddress(request.raw);
    return { token, csrf: this.#csrfOf(token), userAgent, address, user, isPasswordless, linkCommand };
  }

  /** The form of a request, and its browser. Throws PageError if it was not rendered for this browser and session. */
  async submitted(request: FastifyRequest, reply: FastifyReply) {
    const browser = await this.of(request, reply);
    const form = formOf(request.body);
    const sent = Buffer.from(form.text("csrf"));
    const expected = Buffer.from(browser.csrf);
    if (sent.length === expected.length && timingSafeEqual(sent, expected)) return { browser, form };
    throw new PageError(
      403,
      "This form is no longer valid",
      "It belongs to another session, or this browser blocks cookies. Go back, reload the page and try again.",
    );
  }

  /** Begins a session under a new token, in the caller's transaction. The old token stops working. */
  async begin(tx: Transaction, browser: BrowserSession, userId: string, byLink: boolean): Promise<string> {
    const { vault, clock, newId } = this.#tools;
    const token = this.#newToken();
    await deleteSession(tx, vault.digest(browser.token));
    await insertSession(tx, {
      digest: vault.digest(token),
      id: newId("session", clock.now()),
      user_id: userId,
      by_link: byLink ? 1 : 0,
      user_agent: browser.userAgent?.slice(0, USER_AGENT_LENGTH) ?? null,
      client_address: browser.address ?? null,
      created: clock.now(),
      expires_at: clock.now() + SESSION_SECONDS * 1000,
    });
    return token;
  }

  /** Keeps the page that the browser asked for, until it signs in with a one-time link. */
  keepNext(reply: FastifyReply, next: string): void {
    const kept = next.length > MAX_NEXT ? "" : next;
    void reply.setCookie(this.#nextCookie, kept, this.#cookieOptions(NEXT_SECONDS));
  }

  /** Returns the page that the browser asked for. */
  takeNext({ cookies }: FastifyRequest, reply: FastifyReply): string | undefined {
    const { [this.#nextCookie]: next } = cookies;
    if (next !== undefined) void reply.clearCookie(this.#nextCookie, this.#cookieOptions());
    return next;
  }

  /** Sets the cookie of a new session. */
  admit(reply: FastifyReply, token: string): void {
    this.#setCookie(reply, token, SESSION_SECONDS);
  }

  async end(reply: FastifyReply, browser: BrowserSession): Promise<void> {
    await this.#tools.database.write((tx) => deleteSession(tx, this.#tools.vault.digest(browser.token)));
    this.#setCookie(reply, this.#newToken());
  }

  #newToken(): string {
    return Buffer.from(this.#tools.random.bytes(32)).toString("base64url");
  }

  #csrfOf(token: string): string {
    return this.#tools.vault.tag(`csrf:${token}`).toString("base64url");
  }

  #setCookie(reply: FastifyReply, token: string, seconds?: number): void {
    void reply.setCookie(this.#cookie, token, this.#cookieOptions(seconds));
  }

  get #nextCookie(): string {
    return `${this.#cookie}_next`;
  }

  /** Without an age a cookie expires with the browser session. */
  #cookieOptions(seconds?: number) {
    return {
      path: "/",
      httpOnly: true,
      sameSite: "lax",
      secure: this.#tools.publicUrl?.protocol === "https:",
      ...(seconds === undefined ? {} : { maxAge: seconds }),
    } as const;
  }
}

/** The command that prints a sign-in link, as a page shows it. */
export interface LinkCommand {
  text: string;
  /** What the reader must add to it. */
  note: string | undefined;
}

/** A proxy on this machine sends one of them for a client elsewhere. */
const PROXY_HEADERS = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip"];

/** Shows the exact command, which contains paths, only to a browser on this machine. */
function linkCommandOf({ headers, socket }: IncomingMessage, exact: string | undefined): LinkCommand {
  const isHere =
    isLoopback(socket.remoteAddress ?? "") &&
    isLoopback(parseUrl(`http://${headers.host}`)?.hostname ?? "") &&
    PROXY_HEADERS.every((name) => headers[name] === undefined);
  const isExact = isHere && exact !== undefined;
  return {
    text: inProject(isExact ? exact : "service serve link"),
    note: isExact ? undefined : "If the platform was started with --database, add the same one.",
  };
}
