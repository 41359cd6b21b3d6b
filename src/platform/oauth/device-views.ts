import { OAUTH_PATHS } from "../../contract/scopes.ts";
import { html } from "../pages/html.ts";
import type { Page } from "../pages/page.ts";
import { csrfField } from "../sign-in/views.ts";
import type { SignedIn } from "../sign-in/visitors.ts";

/** Where a person types what the device shows. */
export function codePage(visitor: SignedIn, form: { code: string; problem?: string }): Page {
  return {
    title: "Connect a device",
    body: html`<h1>Connect a device</h1>
      <p class="soft">Type the code that your device or terminal shows.</p>
      ${form.problem !== undefined && html`<p class="notice bad" role="alert">${form.problem}</p>`}
      <form method="post" action="${OAUTH_PATHS.device}">
        ${csrfField(visitor)}
        <label>
          Code
          <input
            class="code"
            name="user_code"
            required
            value="${form.code}"
            placeholder="XXXX-XXXX"
            autocomplete="off"
            autocapitalize="characters"
            spellcheck="false"
          />
        </label>
        <button class="primary whole">Continue</button>
      </form>
      <section>
        <p class="soft">Signed in as ${visitor.user.email}. Never type a code that somebody sent you.</p>
      </section>`,
  };
}

export function donePage(approved: boolean): Page {
  return {
    title: approved ? "Device connected" : "Not connected",
    body: approved
      ? html`<h1>Device connected</h1>
          <p>It goes on by itself within a few seconds. You can close this page.</p>`
      : html`<h1>Not connected</h1>
          <p>The device got no access. You can close this page.</p>`,
  };
}
