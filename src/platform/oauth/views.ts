import { parseUrl } from "../../network/parse-url.ts";
import type { FastifyReply } from "fastify";
import { html, type Html } from "../http/pages/html.ts";
import { COPY_BUTTON, environmentBadge, type Page, sendPage } from "../http/pages/page.ts";
import type { BrowserSession, BrowserSessions, LinkCommand, SignedIn } from "./browser-sessions.ts";
import type { Environment } from "../../contract/environments.ts";
import { lookUp } from "../../contract/ids.ts";
import { permissionsOf, type Scope } from "../../contract/scopes.ts";
import type { ClientRow } from "../storage/oauth-apps.ts";

export function emailInput(value: string): Html {
  return html`<input
    name="email"
    type="text"
    inputmode="email"
    autocomplete="username"
    autocapitalize="none"
    spellcheck="false"
    required
    value="${value}"
  />`;
}

/** The hidden field that binds a form to its browser. */
export function csrfField({ csrf }: BrowserSession): Html {
  return html`<input type="hidden" name="csrf" value="${csrf}" />`;
}

/** Renders a form that is a single button, or looks like a link if `plain`. */
export function buttonForm(
  browser: BrowserSession,
  action: string,
  label: string,
  { fields = {}, plain = false }: { fields?: Record<string, string>; plain?: boolean } = {},
): Html {
  const hidden = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
  );
  return html`<form method="post" action="${action}">
    ${csrfField(browser)}${hidden}<button class="${plain ? "plain soft" : "small"}">${label}</button>
  </form>`;
}

/** Shows the command that prints a sign-in link. */
export function commandLine({ text, note }: LinkCommand): Html {
  const words = text.split(" ").map((word, index) => html`${index > 0 && " "}<span>${word}</span>`);
  return html`<div class="command">
      <pre><code>${words}</code></pre>
      ${COPY_BUTTON}
    </div>
    ${note !== undefined && html`<p class="soft">${note}</p>`}`;
}

/** Email and password, and the one-time link; only that while nobody has a password. */
export function signInPage(
  browser: BrowserSession,
  { next, email = "", problem }: { next: string; email?: string; problem?: string | undefined },
): Page {
  const form = html`<form method="post" action="/sign-in">
    ${csrfField(browser)}<input type="hidden" name="next" value="${next}" />
    <label>Email ${emailInput(email)} </label>
    <label>Password <input name="password" type="password" autocomplete="current-password" required /></label>
    <button class="primary whole">Sign in</button>
  </form>`;
  const link = html`<p>
      Run this command on the machine that runs this platform. It prints a link that signs you in once, within 15
      minutes:
    </p>
    ${commandLine(browser.linkCommand)}
    <p class="soft">
      No access to that machine? Ask someone who has it for a link, or a signed-in owner to invite you.
    </p>
    <p class="soft">Already signed in, in another tab? <a href="${next}">Continue here</a>.</p>`;
  const [path = ""] = next.split("?");
  const id = path.slice(path.lastIndexOf("/") + 1);
  const noun = lookUp(id)?.noun;
  const page = noun === undefined ? html`<code>${path}</code>` : html`the ${noun} <code>${id}</code>`;
  return {
    title: "Sign in",
    body: html`<h1>Sign in</h1>
      <p class="soft">
        ${next.startsWith(`${HOME}/`) ? html`to continue to ${page}` : "to send and debug webhooks on this platform"}
      </p>
      ${problem !== undefined && html`<p class="notice bad" role="alert">${problem}</p>`}
      ${
        browser.isPasswordless
          ? link
          : html`${form}
              <section>
                <h2>No password yet?</h2>
                ${link}
              </section>`
      }`,
  };
}

/** Sends the page to sign in with. A one-time link then leads to `next`, too. */
export function askToSignIn(
  reply: FastifyReply,
  sessions: BrowserSessions,
  browser: BrowserSession,
  next: string,
  problem?: string,
): FastifyReply {
  sessions.keepNext(reply, next);
  return sendPage(reply, problem === undefined ? 200 : 400, signInPage(browser, { next, problem }));
}

export function invitationPage(
  browser: BrowserSession,
  invitation: { token: string; email: string; account: string; problem: string | undefined },
): Page {
  return {
    title: "Accept the invitation",
    body: html`<h1>Join ${invitation.account}</h1>
      <p class="soft">You were invited. Choose a password to sign in with.</p>
      ${invitation.problem !== undefined && html`<p class="notice bad" role="alert">${invitation.problem}</p>`}
      <form method="post" action="/invitation">
        ${csrfField(browser)}<input type="hidden" name="token" value="${invitation.token}" />
        <label>Email <input name="email" autocomplete="username" readonly value="${invitation.email}" /></label>
        <label>
          Password <span class="soft">at least 10 characters</span>
          <input name="password" type="password" autocomplete="new-password" required minlength="10" />
        </label>
        <button class="primary whole">Join</button>
      </form>`,
  };
}

/** The default page after sign-in. */
export const HOME = "/dashboard";

/** The signed-in person's own page. */
export const ACCOUNT = "/account";

/** Returns the page of this platform to continue to, or the home page if the path leads elsewhere or is invalid. */
export function localPath(path: string | undefined): string {
  const base = "http://local.invalid";
  // A header can hold no other characters. Links to a page here encode its path.
  if (path === undefined || !/^\/[\x21-\x7e]*$/.test(path)) return HOME;
  // Browsers read //host and /\host as another site.
  return parseUrl(path, base)?.origin === base ? path : HOME;
}

interface ConsentView {
  client: ClientRow;
  scopes: readonly Scope[];
  environment: Environment;
  /** The form's action; absent for the page's own address. */
  action?: string;
  /** The user code, if the app waits on another device. */
  userCode?: string;
  /** The path back to this page after signing in as another user. */
  here: string;
  /** The effect of the user's choice. */
  outcome: Html;
  /** The origin of the redirect. */
  formTargets?: readonly string[];
}

/** Renders which app requests which scopes of which environment, with the buttons to allow or deny them. */
export function consentPage(browser: SignedIn, view: ConsentView): Page {
  const { client, scopes, environment } = view;
  const { user } = browser;
  return {
    title: `Allow ${client.name}?`,
    ...(view.formTargets === undefined ? {} : { formTargets: view.formTargets }),
    body: html`<h1><bdi>${client.name}</bdi> wants access to the account “${user.account_name}”</h1>
      <dl>
        ${
          view.userCode !== undefined &&
          html`<div>
            <dt>Your device shows</dt>
            <dd class="code">${view.userCode}</dd>
          </div>`
        }
        <div>
          <dt>Environment</dt>
          <dd>
            ${environmentBadge(environment)}
            <span class="soft">${environment === "live" ? "real data" : "test data"}</span>
          </dd>
        </div>
        <div>
          <dt>Registered by</dt>
          <dd><bdi>${client.account_name ?? "this platform (built in)"}</bdi></dd>
        </div>
        <div>
          <dt>You</dt>
          <dd>${user.email}</dd>
        </div>
      </dl>
      <h2>It can</h2>
      <ul class="scopes">
        ${permissionsOf(scopes).map(
          ({ words, warning }) =>
            html`<li class="${warning === undefined ? "" : "warned"}">
              ${words}${warning !== undefined && html` <span class="warning">${warning}</span>`}
            </li>`,
        )}
      </ul>
      <form method="post" ${view.action !== undefined && html` action="${view.action}"`}>
        ${csrfField(browser)}
        ${view.userCode !== undefined && html`<input type="hidden" name="user_code" value="${view.userCode}" />`}
        <div class="choice">
          <button class="primary" name="decision" value="approve">Allow</button>
          <button name="decision" value="deny">Deny</button>
        </div>
      </form>
      <section>
        <p class="soft">${view.outcome} You can revoke access at any time in the dashboard, under Team & access.</p>
        <div class="top">
          <span class="soft">Not ${user.email}?</span>
          ${buttonForm(browser, "/sign-out", "Use another account", { fields: { next: view.here }, plain: true })}
        </div>
      </section>`,
  };
}
