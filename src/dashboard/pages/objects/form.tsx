import { useState } from "preact/hooks";
import {
  type Action,
  type Field as FieldEntry,
  nounOf,
  type ObjectKind,
  pathOf,
  resourceOf,
  RESOURCES,
  withArticle,
} from "../../../contract/resources.ts";
import { useCall } from "../../api/call.ts";
import type { Item } from "../../api/objects.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Form } from "../../components/form.tsx";
import { showToast } from "../../components/toasts.tsx";
import { useGo } from "../../router.tsx";
import { Inputs, type Values } from "../inputs.tsx";
import { ResourceForm } from "../resource-form.tsx";

/** Creates an object and goes to its page, or changes one. */
export function ObjectForm({ kind, item, onClose }: { kind: ObjectKind; item?: Item; onClose: () => void }) {
  const go = useGo();
  const noun = nounOf(kind);
  const isNew = item === undefined;
  return (
    <ResourceForm<Item>
      kind={kind}
      {...(isNew ? { submit: `Create ${noun}` } : { item })}
      title={isNew ? `Create ${withArticle(noun)}` : `Edit ${noun}`}
      onClose={onClose}
      onSaved={({ id }) => {
        showToast(`${isNew ? "Created" : "Saved"} ${id}`);
        if (isNew) go(RESOURCES[kind].page.name, id);
      }}
    />
  );
}

/** Performs an action that takes fields, which start with their defaults. */
export function ActOnObject(props: {
  kind: ObjectKind;
  item: Item;
  verb: string;
  action: Action;
  onClose: () => void;
}) {
  const call = useCall();
  const { kind, item, verb, action, onClose } = props;
  const { takes = {}, label, to } = action;
  const [values, setValues] = useState<Values>(takes);
  const fields = Object.entries<FieldEntry>(resourceOf(kind).fields ?? {}).filter(([name]) => name in takes);
  return (
    <Dialog title={action.about} onClose={onClose}>
      <Form
        submit={label}
        fields={Object.keys(takes)}
        onCancel={onClose}
        run={async () => {
          await call(
            "POST",
            `${pathOf(kind)}/${item.id}/${verb}`,
            Object.fromEntries(Object.entries(values).filter(([, value]) => value !== "")),
          );
          showToast(`${RESOURCES[kind].label} ${item.id} ${to}`);
          onClose();
        }}
      >
        {(error) => <Inputs fields={fields} values={values} onValues={setValues} error={error} />}
      </Form>
    </Dialog>
  );
}
