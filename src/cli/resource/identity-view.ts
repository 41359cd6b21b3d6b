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
        text: ({ credential: { kind, prefix, last4 } }) =>
          `${kind === "session" ? "dashboard session" : kind.replace("_", " ")} ${prefix}…${last4}`,
      },
      {
        label: "Scopes",
        text: ({ scopes }) => (scopes.length === SCOPES.length ? `all ${scopes.length}` : scopes.join(" ")),
      },
    ],
  };
}
