import { ENVIRONMENTS, type Environment } from "../../../contract/environments.ts";
import { profileNamed, type Settings } from "../../settings/profiles.ts";
import type { Column, ResourceView } from "../../terminal/view.ts";

/** A profile as it is listed; no credential is in it. */
export interface ProfileEntry {
  name: string;
  current: boolean;
  base_url: string;
  auth_url: string;
  account: { id: string; name: string } | null;
  credentials: { environment: Environment; type: "api_key" | "oauth" }[];
}

export function toEntry(settings: Settings, name: string): ProfileEntry {
  const { base_url, auth_url, account, credentials } = profileNamed(settings, name)!;
  return {
    name,
    current: settings.current_profile === name,
    base_url,
    auth_url,
    account: account ?? null,
    credentials: ENVIRONMENTS.flatMap((environment) => {
      const type = credentials[environment]?.type;
      return type === undefined ? [] : [{ environment, type }];
    }),
  };
}

const KINDS = { api_key: "key", oauth: "browser" } as const;

const NAME: Column<ProfileEntry> = {
  label: "Name",
  text: ({ name }) => name,
  style: (text, styles) => styles.accent(text),
};
const CURRENT: Column<ProfileEntry> = {
  label: "Current",
  text: ({ current }, { terminal }) => (current ? (terminal ? "✓" : "yes") : terminal ? "" : "no"),
  style: (text, styles) => styles.good(text),
};
const BASE_URL: Column<ProfileEntry> = { label: "Base URL", text: ({ base_url }) => base_url, shrinks: true };
const ACCOUNT: Column<ProfileEntry> = { label: "Account", text: ({ account }) => account?.name ?? "", shrinks: true };
const SIGNED_IN: Column<ProfileEntry> = {
  label: "Signed in",
  text: ({ credentials }) =>
    credentials.map(({ environment, type }) => `${environment} (${KINDS[type]})`).join(", ") || "no",
};

export const PROFILES: ResourceView<ProfileEntry> = {
  noun: "profile",
  plural: "profiles",
  fields: ["name", "current", "base_url", "auth_url", "account", "credentials"],
  columns: [NAME, CURRENT, ACCOUNT, SIGNED_IN, { ...BASE_URL, optional: true }],
  details: [NAME, CURRENT, ACCOUNT, SIGNED_IN, BASE_URL, { label: "Auth URL", text: ({ auth_url }) => auth_url }],
};
