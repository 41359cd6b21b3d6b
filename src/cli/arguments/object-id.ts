import { InvalidArgumentError } from "commander";

/** The id of an object; what kind it is, the platform judges. */
export function objectId(text: string): string {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) throw new InvalidArgumentError("Must be an ID such as cus_4Vf8….");
  return text;
}
