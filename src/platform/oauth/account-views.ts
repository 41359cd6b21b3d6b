import type { ApiKey } from "../../contract/schemas/api-key.ts";
import { formatTimestamp } from "../../contract/timestamps.ts";
import { html, type Html } from "../http/pages/html.ts";
import { type Page, environmentBadge } from "../http/pages/page.ts";
import type { LiveGrant } from "../storage/oauth-grants.ts";
import type { UserRow } from "../storage/accounts.ts";
import { buttonForm, csrfField, emailInput } from "./views.ts";
import type { SignedIn } from "./browser-sessions.ts";

export interface AccountView {
  users: readonly UserRow[];
  grants: readonly LiveGrant[];
  /** True if changing the sign-in details requires the current password. */
  asksPassword: boolean;
  /** True if team and apps are in the dashboard. */
  hasDashboard: boolean;
  notice?: { good: boolean; text: string } | undefined;
  /** An invitation that was just created, shown once. */
  invitation?: { email: string; url: string } | undefined;
  /** Active API keys of a user who was just removed. */
  leftKeys?: readonly ApiKey[] | undefined;
  /** Value of the email field, if it differs from the user's own address. */
  email?: string | undefined;
}

export function accountPage(browser: SignedIn, view: AccountView): Page {
  const { user } = browser;
  return {
    title: user.account_name,
    wide: !view.hasDashboard,
    body: html`<a class="back" href="/dashboard">← Dashboard</a>
      <div class="top">
        <h1>${view.hasDashboard ? "Password & sign-in" : user.account_name}</h1>
        ${buttonForm(browser, "/sign-out", "Sign out")}
      </div>
      <p class="soft">Signed in as ${user.email}</p>
      ${
        view.notice !== undefined &&
        html`<p class="notice ${view.notice.good ? "good" : "bad"}" role="status">${view.notice.text}</p>`
      }
      ${details(browser, view)}
      ${
        view.hasDashboard
          ? html`<section>
              <p class="soft">
                Users, sessions and authorized apps are on <a href="/dashboard/sandbox/people">Team & access</a>.
              </p>
            </section>`
          : [people(browser, view), apps(browser, view)]
      }`,
  };
}

function details(browser: SignedIn, { asksPassword, email }: AccountView): Html {
  const first = browser.user.password === null;
  return html`<section>
    <h2>${first ? "Set a password" : "Email and password"}</h2>
    <p class="soft">
      ${
        first
          ? "Until you set one, you can sign in with one-time links only."
          : "Changing your password signs you out everywhere else. Leave it empty to keep your current password."
      }
    </p>
    <form method="post" action="/account/details">
      ${csrfField(browser)}
      <label> Email ${emailInput(email ?? browser.user.email)} </label>
      <label>
        New password <span class="soft">at least 10 characters</span>
        <input
          name="new_password"
          type="password"
          autocomplete="new-password"
          minlength="10"
          ${first && html`required`}
        />
      </label>
      ${
        asksPassword &&
        html`<label>
          Current password
          <input name="current_password" type="password" autocomplete="current-password" required />
        </label>`
      }
      <button class="primary">Save</button>
    </form>
  </section>`;
}

function people(browser: SignedIn, { users, invitation, leftKeys }: AccountView): Html {
  const isOwner = browser.user.role === "owner";
  return html`<section>
    <h2>Team</h2>
    <ul class="rows">
      ${users.map(
        ({ id, email, role, password }) =>
          html`<li>
            <span>${email} <span class="soft">${role}${password === null && " · has no password yet"}</span></span>
            ${isOwner && role === "member" && buttonForm(browser, "/account/people/remove", "Remove", { fields: { user: id } })}
          </li>`,
      )}
    </ul>
    ${
      leftKeys !== undefined &&
      html`<div class="notice bad" role="status">
        <p>The user was removed. API keys that they created still work; revoke those that nobody else needs:</p>
        ${leftKeys.map(
          ({ id, name, livemode }) =>
            html`<p>
              ${environmentBadge(livemode ? "live" : "sandbox")} <bdi>${name ?? "Unnamed"}</bdi> <code>${id}</code>
            </p>`,
        )}
      </div>`
    }
    ${
      invitation !== undefined &&
      html`<p class="notice good" role="status">
          Send this link to ${invitation.email}. It works once, for three days, and is not shown again.
        </p>
        <label>Invitation link <input class="link" readonly value="${invitation.url}" /></label>`
    }
    ${
      isOwner &&
      html`<form method="post" action="/account/people">
        ${csrfField(browser)}
        <label>
          Invite by email
          <input
            name="email"
            type="text"
            inputmode="email"
            autocomplete="off"
            autocapitalize="none"
            spellcheck="false"
            required
          />
        </label>
        <button>Invite</button>
      </form>`
    }
  </section>`;
}

function apps(browser: SignedIn, { grants }: AccountView): Html {
  return html`<section>
    <h2>Authorized apps</h2>
    ${grants.length === 0 && html`<p class="soft">No authorized apps.</p>`}
    <ul class="rows">
      ${grants.map(
        ({ id, app_name, environment_name, scopes, created }) =>
          html`<li>
            <span>
              <bdi>${app_name}</bdi> ${environmentBadge(environment_name)}<br />
              <span class="soft">
                ${(JSON.parse(scopes) as string[]).join(", ")} · since ${formatTimestamp(created).slice(0, 10)}
              </span>
            </span>
            ${buttonForm(browser, "/account/apps/revoke", "Revoke", { fields: { grant: id } })}
          </li>`,
      )}
    </ul>
  </section>`;
}
