import { memberNamesOf } from "../../client/response-check.ts";
import type { Identity } from "../../contract/schemas/account.ts";
import { SCOPES } from "../../contract/scopes.ts";
import type { Column, ResourceView } from "../terminal/view.ts";

/** Shows the owner of a credential, with lines that the caller adds. */
export function identityView(more: readonly (readonly [label: string, text: string])[]): ResourceView<Identity> {
  const added = more.map(([label, text]): Column<Identity> => ({ label, text: () => text }));
  return {
    noun: "identity",
    fields: [...memberNamesOf("Identity"), "cli"],
    details: [
      { label: "Account", text: ({ account }) => `${account.name} (${account.id})` },
      { label: "User", text: ({ user }) => user?.email ?? "" },
      {
        label: "Environment",
        text: ({ environment }) => environment,
        styleOf: (text) => (text === "live" ? "warn" : undefined),
      },
      ...added,
      {
        label: "Credential",
        text: ({ credential }) => `${KINDS[credential.kind]} ${credential.prefix}…${credential.last4}`,
      },
      {
        label: "Scopes",
        text: ({ scopes }) => (scopes.length === SCOPES.length ? `all ${scopes.length}` : scopes.join(" ")),
      },
    ],
  };
}

const KINDS: Readonly<Record<Identity["credential"]["kind"], string>> = {
  secret_key: "secret key",
  restricted_key: "restricted key",
  access_token: "access token",
  session: "dashboard session",
};
