import { parsePhoneNumberFromString } from "libphonenumber-js/min";
import { Format } from "typebox/format";
import { isEventType, typesOfSubscription } from "../../contract/event-types.ts";
import { ID_PREFIXES, type IdKind, isId } from "../../contract/ids.ts";
import { parseTimestamp } from "../../contract/timestamps.ts";
import { parseRange } from "../domain/addresses.ts";
import { problemOfRedirectUri } from "../domain/redirect-uris.ts";
import { isCurrency } from "./currencies.ts";

const LOCAL_PART = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const DOMAIN_LABEL = /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;

/** What each format of the contract's schemas means; the second part is what an error says is expected. */
const FORMATS: Record<string, { accepts: (value: string) => boolean; expected: string }> = {
  email: { accepts: isEmail, expected: "an email address such as ada@example.com" },
  phone: { accepts: isPhone, expected: "an E.164 phone number such as +442071838750" },
  currency: { accepts: isCurrency, expected: "an ISO 4217 currency code in uppercase, such as EUR" },
  timestamp: {
    accepts: (value) => parseTimestamp(value) !== undefined,
    expected: "a UTC time of the form YYYY-MM-DDTHH:MM:SSZ",
  },
  cidr: {
    accepts: (value) => parseRange(value) !== undefined,
    expected: "an address range in CIDR form, such as 203.0.113.0/24",
  },
  "redirect-uri": {
    accepts: (value) => problemOfRedirectUri(value) === undefined,
    expected: "an https URL, or http to this machine, such as https://app.example.com/callback",
  },
  "event-type": { accepts: isEventType, expected: "an event type" },
  subscription: {
    accepts: (value) => typesOfSubscription(value).length > 0,
    expected: "an event type, a wildcard such as order.*, or *",
  },
};
for (const kind of Object.keys(ID_PREFIXES) as IdKind[]) {
  FORMATS[`${kind}-id`] = {
    accepts: (value) => isId(kind, value),
    expected: `the id of a ${kind.replaceAll("_", " ")} (${ID_PREFIXES[kind]}…)`,
  };
}

/** Makes the formats known to the validators; called once, before any schema is compiled. */
export function registerFormats(): void {
  for (const [name, { accepts }] of Object.entries(FORMATS)) Format.Set(name, accepts);
}

/** What a value of the format looks like, for error messages. */
export function expectedOfFormat(name: string): string {
  return FORMATS[name]?.expected ?? `a value of the format ${name}`;
}

/** True for an address that mail could be sent to. */
export function isEmail(value: string): boolean {
  const at = value.lastIndexOf("@");
  const labels = value.slice(at + 1).split(".");
  return (
    at > 0 &&
    at <= 64 &&
    value.length - at - 1 <= 255 &&
    labels.length >= 2 &&
    LOCAL_PART.test(value.slice(0, at)) &&
    labels.every((label) => DOMAIN_LABEL.test(label)) &&
    /[A-Za-z]/.test(labels.at(-1)!)
  );
}

function isPhone(value: string): boolean {
  return /^\+[1-9]\d{4,14}$/.test(value) && parsePhoneNumberFromString(value)?.isPossible() === true;
}
