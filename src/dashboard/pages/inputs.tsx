import { EVENT_TYPES, matchesSubscriptions, SUBSCRIPTION_WILDCARDS } from "../../contract/event-types.ts";
import { typeOf } from "../../contract/field-types.ts";
import {
  exampleOf,
  type Field as FieldEntry,
  kindsWith,
  nounsOf,
  OBJECT_KINDS,
  type ObjectKind,
  pathOf,
  RESOURCES,
} from "../../contract/resources.ts";
import { inProject } from "../../contract/shell-command.ts";
import { CallError, withQuery } from "../api/call.ts";
import type { Item } from "../api/objects.ts";
import { useQuery } from "../api/store.ts";
import { environmentNow } from "../clock.ts";
import { Field, type FieldProps } from "../components/form.tsx";
import { type MapRow, mapRows, MapField } from "../components/map-field.tsx";
import { localIso, minorDigits, minorUnits, money, typedAmount } from "../format.ts";
import { type Permissions, PermissionsField, permissionsOf, scopesOf } from "./api-keys/scopes.tsx";
import { EventType } from "../components/values.tsx";
import { titleOf } from "./objects/item.tsx";

/** The value of an input. */
type Value = string | boolean | readonly string[] | readonly MapRow[] | Permissions;
export type Values = Readonly<Record<string, Value>>;

/** Returns the kind of a field's input: by its type, or by the format of a list's items. A secret map is text. */
export function inputOf({ type, of, secret }: FieldEntry): string | undefined {
  return type === "list" ? of : secret === undefined ? typeOf(type).input : "headers";
}

/** Returns the value of a field's input for an existing object, or for a new one. */
export function valueOf(name: string, field: FieldEntry, item: Readonly<Record<string, unknown>> | undefined): Value {
  const value = item?.[name];
  switch (inputOf(field)) {
    case "scope":
      return permissionsOf(item);
    case "subscription":
      return (value ?? ["*"]) as string[];
    case "cidr":
    case "redirect-uri":
      return ((value ?? []) as string[]).join("\n");
    case "map":
      return mapRows((value ?? {}) as Record<string, string>);
    case "checkbox":
      return value === true;
    case "datetime-local":
      return value == null ? "" : localIso(value as string).slice(0, 16);
    case "amount":
      return value === undefined ? "" : typedAmount(value as number, item!["currency"] as string);
    default:
      return String(value ?? (item === undefined ? presetOf(field) : ""));
  }
}

/** Returns the initial value of an input for a new object: the likely one of a few values. */
function presetOf({ type, required, choices: [first] = [], examples: [example] = [] }: FieldEntry): unknown {
  return (typeOf(type).isPreset ? example : required && first) || "";
}

/** Returns the member of a request's body for the value of an input. The platform reports errors in any other text. */
export function memberOf(field: FieldEntry, value: Value, currency: Value | undefined): unknown {
  const unset = value === "" && !field.required ? null : value;
  switch (inputOf(field)) {
    case "scope":
      return scopesOf(value as Permissions);
    case "cidr":
      return (value as string).split(/[\s,]+/).filter(Boolean);
    case "redirect-uri":
      return (value as string).split(/\s+/).filter(Boolean);
    case "headers":
      return headersOf(value as string);
    case "datetime-local":
      return inUtc(value as string);
    case "amount":
      return minorUnits(value as string, ((currency ?? "") as string).toUpperCase()) ?? unset;
    case "number":
      return /^\d+$/.test(value as string) ? Number(value) : unset;
    default:
      return typeof unset === "string" && typeOf(field.type).flagParser === "upper case" ? unset.toUpperCase() : unset;
  }
}

/** Returns the headers of lines such as `Name: value`. One without a colon has no value, which the platform reports. */
function headersOf(text: string): Record<string, string | null> {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return colon === -1 ? [line.trim(), null] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );
}

/** Returns a local time in UTC. The platform reports a year of more than four digits. */
function inUtc(local: string): string | null {
  const date = new Date(local);
  if (Number.isNaN(date.getTime())) return local || null;
  return `${date.toISOString().slice(0, 19)}Z`;
}

interface InputsProps {
  values: Values;
  onValues: (values: Values) => void;
  error: CallError | undefined;
  /** True for an object that exists. */
  isEdit?: boolean;
}

/** An input for each field of a form. */
export function Inputs({
  fields,
  ...form
}: InputsProps & { fields: readonly (readonly [name: string, field: FieldEntry])[] }) {
  return (
    <>
      {fields.map(([name, field]) => (
        <Input key={name} name={name} field={field} {...form} />
      ))}
    </>
  );
}

function Input(props: InputsProps & { name: string; field: FieldEntry }) {
  const { name, field, values, onValues, error, isEdit = false } = props;
  const value = values[name]!;
  const currency = values["currency"] as string | undefined;
  const onInput = (given: Value) => onValues({ ...values, [name]: given });
  const { label, about, hint, type, required = false, choices } = field;
  const input = inputOf(field);
  const isWrong = error?.fields.some(({ pointer }) => pointer.startsWith(`/${name}`)) === true;
  const advice = input === "headers" && isEdit ? `${hint} A name with an empty value removes a header.` : hint;
  const shared = {
    label,
    name,
    value: value as string,
    onInput,
    error,
    required,
    placeholder: type === "text" ? "" : placeholderOf(field),
    hint: type === "url" && LOCAL_URL.test(value as string) ? <LocalHint /> : advice,
  };
  const of = OBJECT_KINDS.find((kind) => kind === field.of);
  if (of !== undefined) return <ObjectField of={of} {...shared} />;
  if (choices !== undefined) {
    const options = [...(required ? [] : [""]), ...choices].map((choice) => [choice, choice] as const);
    return <Field {...shared} options={options} />;
  }
  switch (input) {
    case "scope":
      return (
        <div data-field={name} data-missing={scopesOf(value as Permissions)?.length === 0 || undefined}>
          <PermissionsField value={value as Permissions} onInput={onInput} />
          {isWrong && <p class="field-error">Choose at least one scope.</p>}
        </div>
      );
    case "subscription":
      return <SubscriptionsField label={label} chosen={value as string[]} onInput={onInput} isWrong={isWrong} />;
    case "map":
      return <MapField name={name} label={label} rows={value as readonly MapRow[]} onRows={onInput} error={error} />;
    case "checkbox":
      return (
        <label class="check">
          <input type="checkbox" checked={value === true} onChange={() => onInput(value !== true)} /> {about}
        </label>
      );
    case "number":
      return <Field {...shared} type={input} min={field.min} max={field.max} />;
    case "date":
      return <Field {...shared} type={input} />;
    case "datetime-local":
      return (
        <>
          <Field {...shared} type={input} />
          <p class="row-actions presets">
            {[30, 90, 365].map((days) => (
              <button
                key={days}
                type="button"
                class="small"
                onClick={() => onInput(localIso(new Date(environmentNow() + days * DAY).toISOString()).slice(0, 16))}
              >
                In {days === 365 ? "1 year" : `${days} days`}
              </button>
            ))}
          </p>
        </>
      );
    case "amount":
      return (
        <Field
          {...shared}
          placeholder="19.99"
          hint={amountHint(value as string, currency)}
          error={error && amountError(error, name, value as string, currency)}
        />
      );
    default:
      return <Field {...shared} isLong={type === "list" || input === "headers"} />;
  }
}

const DAY = 86_400_000;

const LOCAL_URL = /^https?:\/\/(localhost|127\.|\[::1\])/i;

/** How events reach an application on the user's machine. */
function LocalHint() {
  return (
    <>
      <code>{inProject("service listen --forward-to localhost:3000")}</code> gets events to your machine without an
      endpoint.
    </>
  );
}

/** Wildcards below the one for all, each with the types that it covers. */
const SUBSCRIPTIONS = SUBSCRIPTION_WILDCARDS.filter((wildcard) => wildcard !== "*").map((wildcard) => ({
  wildcard,
  types: EVENT_TYPES.filter((name) => matchesSubscriptions([wildcard], name)),
}));

function SubscriptionsField(props: {
  label: string;
  chosen: readonly string[];
  onInput: (chosen: readonly string[]) => void;
  isWrong: boolean;
}) {
  const { label, chosen, onInput, isWrong } = props;
  const toggle = (name: string) =>
    onInput(chosen.includes(name) ? chosen.filter((other) => other !== name) : [...chosen, name]);
  const box = (name: string) => {
    const isCovered = matchesSubscriptions(
      chosen.filter((other) => other !== name),
      name,
    );
    return (
      <label key={name}>
        <input
          type="checkbox"
          aria-label={name}
          checked={isCovered || chosen.includes(name)}
          disabled={isCovered}
          onChange={() => toggle(name)}
        />{" "}
        <EventType type={name} />
      </label>
    );
  };
  return (
    <fieldset class="checks" data-field="events" data-missing={chosen.length === 0 || undefined}>
      <legend>{label}</legend>
      {[true, false].map((isAll) => (
        <label key={isAll}>
          <input
            type="radio"
            name="subscriptions"
            checked={chosen.includes("*") === isAll}
            onChange={() => onInput(isAll ? ["*"] : [])}
          />{" "}
          {isAll ? "All events" : "Selected events"}
        </label>
      ))}
      {!chosen.includes("*") && (
        <ul>
          {SUBSCRIPTIONS.map(({ wildcard, types }) => (
            <li key={wildcard}>
              {box(wildcard)}
              <ul>
                {types.map((name) => (
                  <li key={name}>{box(name)}</li>
                ))}
              </ul>
            </li>
          ))}
        </ul>
      )}
      {isWrong && <p class="field-error">Choose at least one event.</p>}
    </fieldset>
  );
}

const SUGGESTED = 8;

/** An ID, which can be found by any text of its object. */
function ObjectField({ of, ...field }: FieldProps & { of: ObjectKind }) {
  const isChosen = field.value.startsWith(RESOURCES[of].prefix);
  const search = { limit: SUGGESTED, query: field.value.trim() };
  const { data } = useQuery<{ data: Item[] }>(isChosen ? undefined : withQuery(pathOf(of), search));
  const suggestions = (data?.data ?? []).map((item) => [item.id, titleOf(of, item)] as const);
  return <Field {...field} suggestions={suggestions} placeholder={`ID, or search ${nounsOf(of)}`} />;
}

/** Shows the amount with its currency, and as the API has it, as soon as both can be read. */
function amountHint(amount = "", currency = ""): string {
  const code = currency.toUpperCase();
  const units = minorUnits(amount, code);
  if (units !== undefined) return `${money(units, code)}, which the API has as ${units}`;
  return /^[A-Z]{3}$/.test(code) ? `In ${code}, with ${minorDigits(code)} decimal places at most` : "Such as 19.99";
}

/** Returns the error in terms of the form: the platform reports an amount in minor units. */
function amountError(error: CallError, name: string, amount: string, currency = ""): CallError {
  const code = currency.toUpperCase();
  if (!/^[A-Z]{3}$/.test(code) || minorUnits(amount, code) !== undefined) return error;
  const digits = minorDigits(code);
  const example = typedAmount(1999, code);
  const detail =
    amount.trim() === ""
      ? `Enter an amount, such as ${example}`
      : /^\d+[.,]\d+$/.test(amount.trim())
        ? `Use at most ${digits} decimal places, such as ${example}`
        : `Enter a number, such as ${example}`;
  return withDetail(error, name, detail);
}

/** Returns the error with another text for a field. */
function withDetail(error: CallError, name: string, detail: string): CallError {
  return new CallError(error.status, {
    detail: error.message,
    errors: error.fields.map((field) => (field.pointer === `/${name}` ? { ...field, detail } : field)),
  });
}

/** Returns a possible value of a field; for an ID, its beginning. */
export function placeholderOf(field: FieldEntry): string {
  const owner = kindsWith("prefix").find((kind) => kind === field.of);
  return owner === undefined ? String(exampleOf(field) ?? field.min ?? "") : `${RESOURCES[owner].prefix}…`;
}
