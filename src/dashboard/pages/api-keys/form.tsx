import { useState } from "preact/hooks";
import type { ApiKey } from "../../../contract/schemas/api-key.ts";
import { SCOPE_WITHOUT_EFFECT, SCOPED_RESOURCES, SCOPES } from "../../../contract/scopes.ts";
import { useCall } from "../../api/call.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Field, Form, useChanges } from "../../components/form.tsx";

const READ_ONLY = SCOPES.filter((scope) => scope.endsWith(":read"));

/** Creates a key, restricted to scopes chosen in a table or with full access, or changes one. */
export function KeyForm({
  apiKey,
  onClose,
  onSaved,
}: {
  apiKey?: ApiKey;
  onClose: () => void;
  onSaved: (key: ApiKey) => void;
}) {
  const call = useCall();
  const isFull = apiKey?.prefix.startsWith("sk_") === true;
  const [name, setName] = useState(apiKey?.name ?? "");
  const [access, setAccess] = useState<"read" | "chosen" | "full">(isFull ? "full" : "chosen");
  const [scopes, setScopes] = useState<ReadonlySet<string>>(new Set(apiKey?.scopes));
  const [ranges, setRanges] = useState(apiKey?.ip_allowlist.join("\n") ?? "");
  const [expiry, setExpiry] = useState(inLocalTime(apiKey?.expires_at ?? null));
  const body = {
    name: name || null,
    ...(access === "full" ? {} : { scopes: access === "read" ? READ_ONLY : [...scopes] }),
    ip_allowlist: ranges.split(/[\s,]+/).filter(Boolean),
    expires_at: inUtc(expiry),
  };
  const changes = useChanges(body);
  return (
    <Dialog title={apiKey === undefined ? "Create an API key" : "Edit this API key"} onClose={onClose} class="wide">
      <Form
        submit={apiKey === undefined ? "Create key" : "Save"}
        fields={["name", "scopes", "ip_allowlist", "expires_at"]}
        onCancel={onClose}
        run={async () => {
          onSaved(
            apiKey === undefined
              ? await call<ApiKey>("POST", "/v1/api_keys", body)
              : await call<ApiKey>("PATCH", `/v1/api_keys/${apiKey.id}`, changes),
          );
        }}
      >
        {(error) => (
          <>
            <Field
              label="Name"
              name="name"
              value={name}
              onInput={setName}
              error={error}
              placeholder="Warehouse importer"
            />
            {isFull ? (
              <p>This key has full access. To restrict it, create a restricted key and revoke this one.</p>
            ) : (
              <Field
                label="Permissions"
                name="access"
                value={access}
                onInput={(value) => setAccess(value as typeof access)}
                options={[
                  ["chosen", "Restricted: choose scopes"],
                  ["read", "Read only"],
                  ...(apiKey === undefined ? [["full", "Full access (not recommended)"] as const] : []),
                ]}
              />
            )}
            {access === "chosen" && <ScopeTable chosen={scopes} onChange={setScopes} />}
            {error?.fields.some(({ pointer }) => pointer.startsWith("/scopes")) === true && (
              <p class="field-error">Choose at least one scope.</p>
            )}
            <Field
              label="IP allowlist"
              name="ip_allowlist"
              isLong
              value={ranges}
              onInput={setRanges}
              error={error}
              hint="CIDR ranges, such as 203.0.113.0/24. Empty: any address."
            />
            <Field
              label="Expires"
              name="expires_at"
              type="datetime-local"
              value={expiry}
              onInput={setExpiry}
              error={error}
              hint="In your local time. Empty: never."
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}

/** Returns a time as an input of type `datetime-local` takes it. */
function inLocalTime(time: string | null): string {
  if (time === null) return "";
  const date = new Date(time);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Returns a local time in UTC. The platform reports a year of more than four digits. */
function inUtc(local: string): string | null {
  const date = new Date(local);
  if (Number.isNaN(date.getTime())) return local || null;
  return `${date.toISOString().slice(0, 19)}Z`;
}

/** Scopes as a table of resource and action; write does not imply read. */
function ScopeTable(props: { chosen: ReadonlySet<string>; onChange: (chosen: ReadonlySet<string>) => void }) {
  const toggle = (scope: string) => {
    const chosen = new Set(props.chosen);
    if (!chosen.delete(scope)) chosen.add(scope);
    props.onChange(chosen);
  };
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
        {[...SCOPED_RESOURCES, "listen"].map((resource) => (
          <tr key={resource}>
            <th scope="row">{resource}</th>
            {["read", "write"].map((action) => {
              const scope = `${resource}:${action}`;
              const exists = (SCOPES as readonly string[]).includes(scope) && scope !== SCOPE_WITHOUT_EFFECT;
              return (
                <td key={action}>
                  {exists && (
                    <input
                      type="checkbox"
                      aria-label={scope}
                      checked={props.chosen.has(scope)}
                      onChange={() => toggle(scope)}
                    />
                  )}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
