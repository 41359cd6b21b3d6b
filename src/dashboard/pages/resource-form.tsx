import { useState } from "preact/hooks";
import { type Field, inputFieldsOf, type KindWith, pathOf } from "../../contract/resources.ts";
import { useCall } from "../api/call.ts";
import { CreateButton, DialogButton } from "../components/action.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Form, useChanges } from "../components/form.tsx";
import { mapPatch, type MapRow } from "../components/map-field.tsx";
import { inputOf, Inputs, memberOf, valueOf, type Values } from "./inputs.tsx";

/** What every form needs of its object. */
type Saveable = { id: string };

/** A button with the form of a new object. */
export function CreateResource<Saved extends Saveable>(props: {
  kind: KindWith<"fields">;
  /** What the button says, and the one that creates it. */
  label: string;
  title: string;
  onSaved: (saved: Saved) => void;
}) {
  const { label } = props;
  return (
    <CreateButton label={label} dialog={(close) => <ResourceForm<Saved> {...props} submit={label} onClose={close} />} />
  );
}

/** A button with the form of an existing object. */
export function EditResource<Saved extends Saveable>(props: {
  kind: KindWith<"fields">;
  item: Saved;
  title: string;
  onSaved: () => void;
}) {
  return <DialogButton label="Edit" dialog={(close) => <ResourceForm {...props} onClose={close} />} />;
}

/** Creates an object, or changes one, with an input for each field of the table of resources. Closes once it is saved. */
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
  const fields = inputFieldsOf(kind)
    .filter(([, { fixed }]) => item === undefined || !fixed)
    .map(([name, field]): readonly [string, Field] => {
      // The API takes a key without a name, but later it could not be told from others.
      const isNeeded = item === undefined && kind === "api_key" && name === "name";
      return [name, isNeeded ? { ...field, required: true } : field];
    });
  const maps = new Set(fields.flatMap(([name, field]) => (inputOf(field) === "map" ? [name] : [])));
  const [values, setValues] = useState<Values>(() =>
    Object.fromEntries(fields.map(([name, field]) => [name, valueOf(name, field, item)])),
  );
  const body = Object.fromEntries(
    fields.map(([name, field]) => [name, memberOf(field, values[name]!, values["currency"])]),
  );
  const changes = useChanges(body);
  const [opened] = useState({ ...item } as Readonly<Record<string, unknown>>);
  /** Returns the members with maps instead of their rows. Throws CallError if a key is used twice. */
  const withMaps = (members: Partial<typeof body>) =>
    Object.fromEntries(
      Object.entries(members).map(([name, member]) => [
        name,
        maps.has(name) ? mapPatch(name, (opened[name] ?? {}) as Record<string, string>, member as MapRow[]) : member,
      ]),
    );
  return (
    <Dialog title={title} onClose={onClose} class="sheet">
      <Form
        submit={submit}
        fields={fields.map(([name]) => name)}
        onCancel={onClose}
        run={async () => {
          const saved =
            item === undefined
              ? await call<Saved>("POST", pathOf(kind), withMaps(body))
              : await call<Saved>("PATCH", `${pathOf(kind)}/${item.id}`, withMaps(changes));
          onClose();
          onSaved(saved);
        }}
      >
        {(error) => (
          <Inputs fields={fields} values={values} onValues={setValues} error={error} isEdit={item !== undefined} />
        )}
      </Form>
    </Dialog>
  );
}
