import type { Environment } from "../../../../contract/environments.ts";
import type { CredentialKind } from "../../../../contract/credentials.ts";
import type { Column, ResourceView } from "../../../terminal/view.ts";
import { type Finding, masked, withMaskedCredentials } from "./finding.ts";
import type { Outcome } from "./revoke.ts";

/** A finding as it is printed: enough to find it, not enough to use it. */
export interface FindingEntry {
  path: string;
  line: number | null;
  commit: string | null;
  kind: CredentialKind;
  environment: Environment | null;
  credential: string;
  /** What --revoke did; null without it. */
  outcome: string | null;
}

export function toEntry({ path, line, commit, kind, environment, secret }: Finding, outcome?: Outcome): FindingEntry {
  return {
    path: withMaskedCredentials(path),
    line,
    commit,
    kind,
    environment,
    credential: masked(secret),
    outcome: outcome?.words ?? null,
  };
}

const KINDS: Readonly<Record<CredentialKind, string>> = {
  secret_key: "secret key",
  restricted_key: "restricted key",
  access_token: "access token",
  refresh_token: "refresh token",
  client_secret: "client secret",
};

const PLACE: Column<FindingEntry> = {
  label: "Place",
  text: ({ commit, path, line }) => `${commit === null ? "" : `${commit} `}${path}${line === null ? "" : `:${line}`}`,
  style: (text, styles) => styles.strong(text),
};
const CREDENTIAL: Column<FindingEntry> = { label: "Credential", text: ({ credential }) => credential };
const KIND: Column<FindingEntry> = {
  label: "Kind",
  text: ({ kind, environment }) => (environment === null ? KINDS[kind] : `${environment} ${KINDS[kind]}`),
  style: (text, styles, { environment }) => (environment === "live" ? styles.bad(text) : text),
};
const OUTCOME: Column<FindingEntry> = { label: "Outcome", text: ({ outcome }) => outcome ?? "", optional: true };

export const FINDINGS: ResourceView<FindingEntry> = {
  noun: "finding",
  plural: "findings",
  fields: ["path", "line", "commit", "kind", "environment", "credential", "outcome"],
  columns: [PLACE, CREDENTIAL, KIND, OUTCOME],
  details: [PLACE, CREDENTIAL, KIND, OUTCOME],
};
