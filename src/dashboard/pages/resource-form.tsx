import { useState } from "preact/hooks";
import { inputFieldsOf, type KindWith, pathOf, RESOURCES } from "../../contract/resources.ts";
import { CallError, useCall } from "../api/call.ts";
import { CreateButton, DialogButton } from "../components/action.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Form, useChanges } from "../components/form.tsx";
import { MetadataField, metadataOf, metadataPatch, metadataRows } from "../components/metadata.tsx";
import { Inputs, memberOf, valueOf, type Values } from "./inputs.tsx";

/** What every form needs of its object. */
type Saveable = {
  id: string;
  metadata?: Record<string, string>;
};

/** A button with the form of a new object. */
export function CreateResource<Saved extends Saveable>(props: {
  kind: KindWith<"fields">;
  /** What the button says, and the one that creates it. */
  label: string;
  title: string;
  onSaved: (saved: Saved) => void;
}) {
  const { label, onSaved, ...form } = props;
  return (
    <CreateButton
      label={label}
      dialog={(close) => (
        <ResourceForm<Saved>
          {...form}
          submit={label}
          onClose={close}
          onSaved={(saved) => {
            close();
            onSaved(saved);
          }}
        />
      )}
    />
  );
}

/** A button with the form of an existing object. */
export function EditResource<Saved extends Saveable>(props: {
  kind: KindWith<"fields">;
  item: Saved;
  title: string;
  onSaved: () => void;
}) {
  return (
    <DialogButton
      label="Edit"
      dialog={(close) => (
        <ResourceForm
          {...props}
          onClose={close}
          onSaved={() => {
            close();
            props.onSaved();
          }}
        />
      )}
    />
  );
}

/** Creates an object, or changes one, with an input for each field of the table of resources. */
export function ResourceForm<Saved extends Saveable>(props: {
  kind: KindWith<"fields">;
  /** The object to change. */
  item?: Saved;
  title: string;
  submit?: string;
  onClose: () => void;
  onSaved: (saved: Saved) => void;
}) {
  const call = useCall();
  const { kind, item, title, submit = "Save", onClose, onSaved } = props;
  const fields = inputFieldsOf(kind).filter(([, { fixed }]) => item === undefined || !fixed);
  const [values, setValues] = useState<Values>(() =>
    Object.fromEntries(fields.map(([name, field]) => [name, valueOf(name, field, item)])),
  );
  const body = Object.fromEntries(
    fields.map(([name, field]) => [name, memberOf(field, values[name]!, values["currency"])]),
  );
  const changes = useChanges(body);
  const hasMetadata = !("custom" in RESOURCES[kind]);
  const [opened] = useState(item?.metadata ?? {});
  const [rows, setRows] = useState(() => metadataRows(opened));
  return (
    <Dialog title={title} onClose={onClose} class="sheet">
      <Form
        submit={submit}
        fields={[...fields.map(([name]) => name), "metadata"]}
        onCancel={onClose}
        run={async () => {
          if (item === undefined) {
            // The API takes a key without a name, but later it could not be told from others.
            if (kind === "api_key" && values["name"] === "") {
              throw new CallError(400, { errors: [{ pointer: "/name", code: "required", detail: "Enter a name" }] });
            }
            const metadata = hasMetadata ? { metadata: metadataOf(rows) } : {};
            return onSaved(await call<Saved>("POST", pathOf(kind), { ...body, ...metadata }));
          }
          const metadata = hasMetadata ? { metadata: metadataPatch(opened, rows) } : {};
          onSaved(await call<Saved>("PATCH", `${pathOf(kind)}/${item.id}`, { ...changes, ...metadata }));
        }}
      >
        {(error) => (
          <>
            <Inputs fields={fields} values={values} onValues={setValues} error={error} isEdit={item !== undefined} />
            {hasMetadata && <MetadataField rows={rows} onRows={setRows} error={error} />}
          </>
        )}
      </Form>
    </Dialog>
  );
}
