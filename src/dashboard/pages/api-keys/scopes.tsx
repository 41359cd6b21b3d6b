import type { ComponentChildren } from "preact";
import { kindsWith, RESOURCES } from "../../../contract/resources.ts";
import { isScope, type Scope, SCOPE_WITHOUT_EFFECT, SCOPES } from "../../../contract/scopes.ts";
import { Field } from "../../components/form.tsx";

const READ_ONLY = SCOPES.filter((scope) => scope.endsWith(":read"));

/** Resources by their name in a scope. */
const LABELS = [
  ...kindsWith("scoped").map((kind) => [RESOURCES[kind].plural, RESOURCES[kind].labels] as const),
  ["listen", "Listeners"] as const,
];

/** The permissions of a key in its form. */
export interface Permissions {
  /** `full` is all scopes of its creator. `kept` is the access of an existing key, which cannot be changed. */
  access: "chosen" | "read" | "full" | "kept";
  chosen: readonly string[];
  isNew: boolean;
}

/** Returns the permissions of an existing key, or the presets of a new one. */
export function permissionsOf(key: { prefix?: unknown; scopes?: unknown } | undefined): Permissions {
  const isFull = typeof key?.prefix === "string" && key.prefix.startsWith("sk_");
  return { access: isFull ? "kept" : "chosen", chosen: (key?.scopes ?? []) as string[], isNew: key === undefined };
}

/** Returns the scopes to send; undefined for full access. */
export function scopesOf({ access, chosen }: Permissions): readonly string[] | undefined {
  if (access === "full" || access === "kept") return undefined;
  return access === "read" ? READ_ONLY : chosen;
}

/** Restricts a key to scopes chosen in a table, or not. */
export function PermissionsField({ value, onInput }: { value: Permissions; onInput: (value: Permissions) => void }) {
  const { access, chosen, isNew } = value;
  if (access === "kept") {
    return <p>This key has full access. To restrict it, create a restricted key and revoke this one.</p>;
  }
  return (
    <>
      <Field
        label="Permissions"
        name="scopes"
        value={access}
        onInput={(given) => onInput({ ...value, access: given as Permissions["access"] })}
        options={[
          ["chosen", "Restricted: choose scopes"],
          ["read", "Read only"],
          ...(isNew ? [["full", "Full access (not recommended)"] as const] : []),
        ]}
      />
      {access === "chosen" && (
        <ScopeTable
          cell={(scope) => (
            <input
              type="checkbox"
              aria-label={scope}
              checked={chosen.includes(scope)}
              onChange={() =>
                onInput({
                  ...value,
                  chosen: chosen.includes(scope) ? chosen.filter((one) => one !== scope) : [...chosen, scope],
                })
              }
            />
          )}
        />
      )}
    </>
  );
}

/** Scopes as a table of resource and action; write does not imply read. */
export function ScopeTable({ cell }: { cell: (scope: Scope) => ComponentChildren }) {
  return (
    <table class="scopes">
      <caption class="sr-only">Scopes</caption>
      <thead>
        <tr>
          <th scope="col">Resource</th>
          <th scope="col">Read</th>
          <th scope="col">Write</th>
        </tr>
      </thead>
      <tbody>
        {LABELS.map(([resource, label]) => (
          <tr key={resource}>
            <th scope="row">{label}</th>
            {["read", "write"].map((action) => {
              const scope = `${resource}:${action}`;
              return <td key={action}>{isScope(scope) && scope !== SCOPE_WITHOUT_EFFECT && cell(scope)}</td>;
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
