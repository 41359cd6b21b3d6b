import { type KindWith, kindsWith, nounOf, nounsOf, type ResourceKind, RESOURCES } from "./resources.ts";
import { shellCommand } from "./shell-command.ts";

/** Prefixes of IDs that name no resource of the API. */
const OTHER_PREFIXES = {
  attempt: "atp_",
  access_token: "tok_",
  account: "acct_",
  request: "req_",
  listener: "lsn_",
} as const;

export type IdKind = KindWith<"prefix"> | keyof typeof OTHER_PREFIXES;

/** An ID is a prefix and 22 base62 characters that encode a UUIDv7, so that IDs of one kind sort by time. */
export const ID_PREFIXES = {
  ...Object.fromEntries(kindsWith("prefix").map((kind) => [kind, RESOURCES[kind].prefix])),
  ...OTHER_PREFIXES,
} as Readonly<Record<IdKind, string>>;

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BODY_LENGTH = 22;
/** 2^128 - 1 in base62: the largest body that still encodes 128 bits. */
const LARGEST_BODY = "7n42DGM5Tflk9n8mt7Fhc7";
const BODY_PATTERN = /^[0-9A-Za-z]{22}$/;
const CHUNK_DIGITS = 5;
const CHUNK = 62 ** CHUNK_DIGITS;

/** Returns a new ID of a kind at a time (Unix milliseconds). */
export type IdGenerator = (kind: IdKind, time: number) => string;

/**
 * Returns a generator whose IDs strictly increase within the process: the 12 bits after the millisecond are a counter
 * that orders IDs of the same millisecond, and if the clock steps back, the last millisecond is repeated.
 */
export function createIdGenerator(randomBytes: (size: number) => Uint8Array): IdGenerator {
  let lastTime = -1;
  let counter = 0xfff;
  return (kind, time) => {
    const random = randomBytes(10);
    if (time > lastTime) {
      lastTime = time;
      counter = ((random[8]! << 8) | random[9]!) & 0x7ff;
    } else if (++counter > 0xfff) {
      lastTime += 1;
      counter = 0;
    }
    const words = new Uint16Array(8);
    writeTime(words, lastTime);
    words[3] = 0x7000 | counter;
    words[4] = 0x8000 | (((random[0]! << 8) | random[1]!) & 0x3fff);
    for (let i = 0; i < 3; i++) words[5 + i] = (random[2 + 2 * i]! << 8) | random[3 + 2 * i]!;
    return ID_PREFIXES[kind] + encode(words);
  };
}

/** Returns true if the text is a well-formed ID of that kind. */
export function isId(kind: IdKind, text: string): boolean {
  const prefix = ID_PREFIXES[kind];
  if (!text.startsWith(prefix)) return false;
  const body = text.slice(prefix.length);
  return BODY_PATTERN.test(body) && body <= LARGEST_BODY;
}

/** Returns what an ID of this kind names, in a sentence: `API key`, `request`. */
export function nounOfId(kind: IdKind): string {
  return kind in RESOURCES ? nounOf(kind as ResourceKind) : kind.replaceAll("_", " ");
}

/** Returns the kind of an ID, or undefined if the text is not an ID. */
export function kindOfId(text: string): IdKind | undefined {
  return (Object.keys(ID_PREFIXES) as IdKind[]).find((kind) => isId(kind, text));
}

/** Returns the nouns of an ID's resource and the commands that show and list it; undefined if there are none. */
export function lookUp(id: unknown): Record<"noun" | "nouns" | "command" | "list", string> | undefined {
  const kind = typeof id === "string" ? kindOfId(id) : undefined;
  const shown = kindsWith("command").find((one) => one === kind);
  if (shown === undefined) return undefined;
  const { name } = RESOURCES[shown].command;
  return {
    noun: nounOf(shown),
    nouns: nounsOf(shown),
    command: shellCommand`service ${name} get ${id as string}`,
    list: `service ${name} list`,
  };
}

/** Returns the IDs of a text that consists of IDs with commas between them, or none. */
export function idsOf(text: string): string[] {
  const parts = text.split(",").map((part) => part.trim());
  return parts.every((part) => kindOfId(part) !== undefined) ? parts : [];
}

/** Returns the lowest ID of a kind at a time (Unix milliseconds): a bound for searches by time. */
export function lowestIdAt(kind: IdKind, time: number): string {
  const words = new Uint16Array(8);
  writeTime(words, Math.max(0, time));
  return ID_PREFIXES[kind] + encode(words);
}

/** Returns the time of an ID in Unix milliseconds. */
export function timeOfId(id: string): number {
  let value = 0n;
  for (const digit of id.slice(-BODY_LENGTH)) value = value * 62n + BigInt(ALPHABET.indexOf(digit));
  return Number(value >> 80n);
}

function writeTime(words: Uint16Array, time: number): void {
  words[0] = Math.floor(time / 2 ** 32);
  words[1] = Math.floor(time / 2 ** 16) % 2 ** 16;
  words[2] = time % 2 ** 16;
}

/** Long division by 62^5 in 16-bit words: every intermediate value stays below 2^53. */
function encode(words: Uint16Array): string {
  let text = "";
  while (text.length < BODY_LENGTH) {
    let remainder = 0;
    for (let i = 0; i < words.length; i++) {
      const value = remainder * 2 ** 16 + words[i]!;
      words[i] = Math.floor(value / CHUNK);
      remainder = value % CHUNK;
    }
    for (let i = 0; i < CHUNK_DIGITS && text.length < BODY_LENGTH; i++) {
      text = ALPHABET[remainder % 62]! + text;
      remainder = Math.floor(remainder / 62);
    }
  }
  return text;
}
