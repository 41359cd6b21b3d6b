import { useState } from "preact/hooks";
import {
  type Action,
  type Field as FieldEntry,
  inputFieldsOf,
  kindsWith,
  nounOf,
  nounsOf,
  OBJECT_KINDS,
  type ObjectKind,
  pathOf,
  resourceOf,
  RESOURCES,
  withArticle,
} from "../../../contract/resources.ts";
import { type CallError, useCall, withQuery } from "../../api/call.ts";
import type { Item } from "../../api/objects.ts";
import { useQuery } from "../../api/store.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Field, type FieldProps, Form, useChanges } from "../../components/form.tsx";
import { MetadataField, metadataOf, metadataPatch, metadataRows } from "../../components/metadata.tsx";
import { showToast } from "../../components/toasts.tsx";
import { money } from "../../format.ts";
import { useGo } from "../../router.tsx";
import { titleOf } from "./item.tsx";

type Values = Readonly<Record<string, string>>;

/** Creates an object, and goes to its page. */
export function CreateObject({ kind, onClose }: { kind: ObjectKind; onClose: () => void }) {
  const call = useCall();
  const go = useGo();
  const fields = inputFieldsOf(kind);
  const presets = fields.map(([name, { type, examples = [] }]) => [name, type === "currency" ? `${examples[0]}` : ""]);
  const [values, setValues] = useState<Values>(Object.fromEntries(presets));
  const [rows, setRows] = useState(metadataRows({}));
  const noun = nounOf(kind);
  return (
    <Dialog title={`Create ${withArticle(noun)}`} onClose={onClose}>
      <Form
        submit={`Create ${noun}`}
        fields={[...fields.map(([name]) => name), "metadata"]}
        onCancel={onClose}
        run={async () => {
          const given = fields.flatMap(([name, field]) => {
            const value = values[name] ?? "";
            return value === "" && !field.required ? [] : [[name, inputOf(field, value)] as const];
          });
          const body = { ...Object.fromEntries(given), metadata: metadataOf(rows) };
          const created = await call<Item>("POST", pathOf(kind), body);
          showToast(`Created ${created.id}`);
          onClose();
          go(RESOURCES[kind].page.name, created.id);
        }}
      >
        {(error) => (
          <>
            <Inputs fields={fields} values={values} onValues={setValues} error={error} />
            <MetadataField rows={rows} onRows={setRows} error={error} />
          </>
        )}
      </Form>
    </Dialog>
  );
}

/** Changes fields of an object. An empty one is removed. */
export function EditObject({ kind, item, onClose }: { kind: ObjectKind; item: Item; onClose: () => void }) {
  const call = useCall();
  const fields = inputFieldsOf(kind);
  const [values, setValues] = useState<Values>(
    Object.fromEntries(fields.map(([name]) => [name, (item[name] ?? "") as string])),
  );
  const changes = useChanges(values);
  const [opened] = useState(item.metadata);
  const [rows, setRows] = useState(metadataRows(opened));
  return (
    <Dialog title={`Edit ${nounOf(kind)}`} onClose={onClose}>
      <Form
        submit="Save"
        fields={[...fields.map(([name]) => name), "metadata"]}
        onCancel={onClose}
        run={async () => {
          const changed = fields.flatMap(([name, field]) => {
            const { [name]: value } = changes;
            if (value === undefined) return [];
            return [[name, value === "" && !field.required ? null : inputOf(field, value)] as const];
          });
          const body = { ...Object.fromEntries(changed), metadata: metadataPatch(opened, rows) };
          await call("PATCH", `${pathOf(kind)}/${item.id}`, body);
          showToast(`Saved ${item.id}`);
          onClose();
        }}
      >
        {(error) => (
          <>
            <Inputs fields={fields} values={values} onValues={setValues} error={error} />
            <MetadataField rows={rows} onRows={setRows} error={error} />
          </>
        )}
      </Form>
    </Dialog>
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

function Inputs(props: {
  fields: readonly [name: string, field: FieldEntry][];
  values: Values;
  onValues: (values: Values) => void;
  error: CallError | undefined;
}) {
  const { fields, values, onValues, error } = props;
  return (
    <>
      {fields.map(([name, field]) => {
        const of = OBJECT_KINDS.find((kind) => kind === field.of);
        const shared = {
          label: field.label,
          name,
          value: values[name] ?? "",
          onInput: (value: string) => onValues({ ...values, [name]: value }),
          error,
          required: field.required ?? false,
          placeholder: placeholderOf(field),
        };
        if (of !== undefined) return <ObjectField key={name} of={of} {...shared} />;
        const hint = field.type === "amount" ? { hint: amountHint(values[name], values["currency"]) } : {};
        return <Field key={name} {...shared} {...hint} />;
      })}
    </>
  );
}

const SUGGESTED = 8;

/** An ID, which is found by any text of its object. */
function ObjectField({ of, ...field }: FieldProps & { of: ObjectKind }) {
  const isChosen = field.value.startsWith(RESOURCES[of].prefix);
  const search = { limit: SUGGESTED, query: field.value.trim() };
  const { data } = useQuery<{ data: Item[] }>(isChosen ? undefined : withQuery(pathOf(of), search));
  const suggestions = (data?.data ?? []).map((item) => [item.id, titleOf(of, item)] as const);
  return <Field {...field} suggestions={suggestions} hint={`ID, or search ${nounsOf(of)}`} />;
}

/** Shows the amount in the currency's major unit, as soon as both can be read. */
function amountHint(amount = "", currency = ""): string {
  const isReadable = /^\d+$/.test(amount) && /^[A-Z]{3}$/.test(currency);
  return isReadable ? money(Number(amount), currency) : "In the currency's minor unit: 1999 is 19.99";
}

function placeholderOf({ type, of, examples: [example] = [] }: FieldEntry): string {
  const owner = kindsWith("prefix").find((kind) => kind === of);
  if (owner !== undefined) return `${RESOURCES[owner].prefix}…`;
  return type === "text" || example === undefined ? "" : String(example);
}

/** Returns an amount as a number. The platform reports errors in other text. */
function inputOf({ type }: FieldEntry, value: string): string | number {
  return type === "amount" && /^\d+$/.test(value.trim()) ? Number(value) : value;
}
