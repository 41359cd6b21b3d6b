import { useState } from "preact/hooks";
import type { ApiKey } from "../../../contract/schemas/api-key.ts";
import { call } from "../../api/call.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Field, Form } from "../../components/form.tsx";
import { ScopeTable } from "./scope-table.tsx";

/** Creates a key: restricted to the scopes of a table, or one that may do everything. */
export function CreateKey({ onClose, onCreated }: { onClose: () => void; onCreated: (key: ApiKey) => void }) {
  const [name, setName] = useState("");
  const [isFull, setFull] = useState(false);
  const [scopes, setScopes] = useState<ReadonlySet<string>>(new Set());
  const [ranges, setRanges] = useState("");
  const [end, setEnd] = useState("");
  return (
    <Dialog title="Create an API key" onClose={onClose} wide>
      <Form
        submit="Create key"
        fields={["name", "scopes", "ip_allowlist", "expires_at"]}
        onCancel={onClose}
        run={async () => {
          onCreated(
            await call<ApiKey>("POST", "/v1/api_keys", {
              name: name || null,
              ...(isFull ? {} : { scopes: [...scopes] }),
              ip_allowlist: ranges.split(/[\s,]+/).filter(Boolean),
              expires_at: end === "" ? null : `${new Date(end).toISOString().slice(0, 19)}Z`,
            }),
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
            <label class="check">
              <input type="checkbox" checked={isFull} onChange={() => setFull(!isFull)} /> May do everything (not
              recommended)
            </label>
            {!isFull && <ScopeTable chosen={scopes} onChange={setScopes} />}
            {error?.fields.some(({ pointer }) => pointer.startsWith("/scopes")) === true && (
              <p class="field-error">Choose at least one scope.</p>
            )}
            <Field
              label="Only from these addresses"
              name="ip_allowlist"
              isLong
              value={ranges}
              onInput={setRanges}
              error={error}
              hint="CIDR ranges such as 203.0.113.0/24; empty for everywhere"
            />
            <Field
              label="Ends"
              name="expires_at"
              type="datetime-local"
              value={end}
              onInput={setEnd}
              error={error}
              hint="Your local time; empty for never"
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}
