import { useState } from "preact/hooks";
import type { WebhookEndpoint } from "../../../contract/schemas/webhook-endpoint.ts";
import { useCall } from "../../api/call.ts";
import { Dialog, ShownOnce } from "../../components/dialog.tsx";
import { Field, Form } from "../../components/form.tsx";

const OVERLAPS = [
  ["0", "None: the old secret stops signing at once"],
  ["3600", "1 hour"],
  ["86400", "1 day"],
  ["259200", "3 days"],
  ["604800", "7 days"],
] as const;

/** Replaces the secret; during the overlap the old one signs too. */
export function RotateSecret({ path, onClose }: { path: string; onClose: () => void }) {
  const call = useCall();
  const [overlap, setOverlap] = useState("86400");
  const [secret, setSecret] = useState<string>();
  if (secret !== undefined) {
    return <ShownOnce title="The new signing secret" secret={secret} what="the new signing secret" onClose={onClose} />;
  }
  return (
    <Dialog title="Rotate the signing secret" onClose={onClose}>
      <p>
        During the overlap every delivery is signed with both secrets, so that you can deploy the new one without a gap.
      </p>
      <Form
        submit="Rotate secret"
        fields={["overlap_seconds"]}
        onCancel={onClose}
        run={async () => {
          const body = { overlap_seconds: Number(overlap) };
          setSecret((await call<WebhookEndpoint>("POST", `${path}/rotate_secret`, body)).secret ?? "");
        }}
      >
        {(error) => (
          <Field
            label="Overlap"
            name="overlap_seconds"
            value={overlap}
            onInput={setOverlap}
            error={error}
            options={OVERLAPS}
          />
        )}
      </Form>
    </Dialog>
  );
}
