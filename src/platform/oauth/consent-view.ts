import type { Environment } from "../../contract/environments.ts";
import { permissionsOf, type Scope } from "../../contract/scopes.ts";
import { environmentBadge, type Page } from "../http/pages/page.ts";
import { html, type Html } from "../http/pages/html.ts";
import { buttonForm, csrfField } from "./views.ts";
import type { SignedIn } from "./browser-sessions.ts";
import type { ClientRow } from "../storage/oauth-apps.ts";

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
