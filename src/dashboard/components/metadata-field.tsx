import { Field } from "./form.tsx";
import type { CallError } from "../api/call.ts";

/** Metadata as lines of `name=value`. */
export function MetadataField(props: {
  value: string;
  onInput: (value: string) => void;
  error: CallError | undefined;
}) {
  return (
    <Field
      label="Metadata"
      name="metadata"
      isLong
      value={props.value}
      onInput={props.onInput}
      error={props.error}
      hint="One name=value a line"
      placeholder="plan=pro"
    />
  );
}

/** Reads the lines; a line without `=` is a name with an empty value. */
export function parseMetadata(text: string): Record<string, string> {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  return Object.fromEntries(
    lines.map((line) => {
      const equals = line.indexOf("=");
      return equals === -1 ? [line.trim(), ""] : [line.slice(0, equals).trim(), line.slice(equals + 1)];
    }),
  );
}

/** What was filled in; an empty field is left out. */
export function filledIn<Value>(fields: Record<string, Value>): Record<string, Value> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ""));
}
