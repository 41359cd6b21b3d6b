import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { lowerFirst, withArticle } from "../../contract/resources.ts";
import { asCallError, CallError } from "../api/call.ts";
import { useOnce } from "./action.tsx";
import { ErrorBox } from "./page.tsx";

export interface FieldProps {
  label: string;
  /** The field of the request, whose errors are shown next to it. */
  name: string;
  value: string;
  onInput: (value: string) => void;
  error?: CallError | undefined;
  hint?: ComponentChildren;
  type?: "text" | "number" | "date" | "datetime-local" | "email" | "url";
  placeholder?: string;
  /** Of a number. */
  min?: number | undefined;
  max?: number | undefined;
  required?: boolean;
  isLong?: boolean;
  /** Values to choose from while typing, each with what it means. */
  suggestions?: readonly (readonly [value: string, label: string])[];
  /** The options, if the value is one of a few. */
  options?: readonly (readonly [value: string, label: string])[];
}

/** One labeled input, with the API's errors about it. */
export function Field(props: FieldProps) {
  const id = useId();
  const problem = props.error?.fields.find(({ pointer }) => isOf(pointer, props.name));
  const describedBy = [props.hint === undefined ? "" : `${id}h`, problem === undefined ? "" : `${id}e`]
    .join(" ")
    .trim();
  const shared = {
    id,
    value: props.value,
    required: props.required,
    placeholder: props.placeholder,
    "aria-invalid": problem !== undefined,
    "aria-describedby": describedBy || undefined,
    autoComplete: "off",
    spellcheck: false,
    onInput: (event: Event) => props.onInput((event.currentTarget as HTMLInputElement).value),
  };
  return (
    <div class="field" data-field={props.name}>
      <label for={id}>{props.label}</label>
      {props.options !== undefined ? (
        <select {...shared}>
          <Options of={props.options} />
        </select>
      ) : props.isLong === true ? (
        <textarea {...shared} rows={3} />
      ) : (
        <input
          {...shared}
          {...({ type: props.type ?? "text" } as { type: "text" })}
          min={props.min}
          max={props.max}
          list={props.suggestions === undefined ? undefined : `${id}s`}
        />
      )}
      {props.suggestions !== undefined && (
        <datalist id={`${id}s`}>
          <Options of={props.suggestions} />
        </datalist>
      )}
      {props.hint !== undefined && (
        <p class="hint" id={`${id}h`}>
          {props.hint}
        </p>
      )}
      {problem !== undefined && (
        <p class="field-error" id={`${id}e`}>
          {problem.detail}
        </p>
      )}
    </div>
  );
}

export function Options({ of }: { of: readonly (readonly [value: string, label: string])[] }) {
  return (
    <>
      {of.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </>
  );
}

export function isOf(pointer: string, name: string): boolean {
  return pointer === `/${name}` || pointer.startsWith(`/${name}/`);
}

/** Returns an error without what it says about some fields; undefined if it says nothing else. */
function withoutFields(error: CallError, names: readonly string[]): CallError | undefined {
  const left = error.fields.filter(({ pointer }) => !names.some((name) => isOf(pointer, name)));
  if (left.length === error.fields.length) return error;
  return left.length === 0 ? undefined : new CallError(error.status, { detail: error.message, errors: left });
}

/** Returns an error about the required fields that are empty, which need no request; undefined if there are none. */
function missingIn(form: HTMLFormElement): CallError | undefined {
  const inputs = [...form.querySelectorAll<HTMLInputElement>("[required], [data-missing]")];
  const errors = inputs.flatMap((input) => {
    const field = input.closest<HTMLElement>("[data-field]")?.dataset["field"];
    const isEmpty = input.dataset["missing"] !== undefined || input.value.trim() === "";
    if (!isEmpty || field === undefined) return [];
    const label = lowerFirst(input.labels?.[0]?.textContent.replace(/s$/, "") ?? "");
    return [{ pointer: `/${field}`, code: "required", detail: `Enter ${withArticle(label)}` }];
  });
  return errors.length === 0 ? undefined : new CallError(400, { errors });
}

/** A form that makes one call, once all required fields have a value. Errors of fields are shown next to them. */
export function Form(props: {
  submit: string;
  /** True for one of several forms of a page, which is not what the page is for. */
  isMinor?: boolean;
  /** True while the platform would reject the call. */
  isDisabled?: boolean;
  run: () => Promise<void>;
  onCancel?: () => void;
  children: (error: CallError | undefined) => ComponentChildren;
  /** Fields whose errors are shown next to them. */
  fields: readonly string[];
}) {
  const form = useRef<HTMLFormElement>(null);
  const [error, setError] = useState<CallError>();
  /** Fields whose values were changed since. */
  const [changed, setChanged] = useState<readonly string[]>([]);
  const { isBusy, act } = useOnce(async () => {
    setError(undefined);
    setChanged([]);
    try {
      const missing = missingIn(form.current!);
      if (missing !== undefined) throw missing;
      await props.run();
    } catch (problem) {
      setError(asCallError(problem));
    }
  });
  useEffect(() => {
    if (error !== undefined) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [error]);
  const shown = error && withoutFields(error, changed);
  const isShownBeside = shown?.fields.some(({ pointer }) => props.fields.some((name) => isOf(pointer, name))) === true;
  return (
    <form
      ref={form}
      noValidate
      onInput={({ target }) => {
        const name = (target as HTMLElement).closest<HTMLElement>("[data-field]")?.dataset["field"];
        if (error !== undefined && name !== undefined) setChanged([...changed, name]);
      }}
      onSubmit={(event) => {
        event.preventDefault();
        act();
      }}
    >
      {props.children(shown)}
      {shown !== undefined && !isShownBeside && <ErrorBox error={shown} />}
      {isShownBeside && (
        <p class="sr-only" role="alert">
          Correct the marked fields.
        </p>
      )}
      <div class="buttons">
        {props.onCancel !== undefined && (
          <button type="button" onClick={props.onCancel}>
            Cancel
          </button>
        )}
        <button
          type="submit"
          class={props.isMinor === true ? "" : "primary"}
          disabled={props.isDisabled === true}
          aria-disabled={isBusy}
        >
          {props.submit}
        </button>
      </div>
    </form>
  );
}

/** Returns the values that differ from those of the opened form. Saving only them keeps what others changed meanwhile. */
export function useChanges<Values extends object>(values: Values): Partial<Values> {
  const [opened] = useState<Partial<Record<string, unknown>>>({ ...values });
  const changes = Object.entries(values).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(opened[name]),
  );
  return Object.fromEntries(changes) as Partial<Values>;
}
