// Control characters would let stored text move the cursor, recolour the screen or break a line of output; the
// direction marks would let it show in another order than it has.
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const NAMES: Readonly<Record<string, string>> = { "\n": String.raw`\n`, "\r": String.raw`\r`, "\t": String.raw`\t` };

/** Text from elsewhere, safe to put into one line or one table cell. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escape);
}

/** The same for serialized JSON, where such characters stand inside strings only. */
export function printableJson(json: string): string {
  return json.replace(UNPRINTABLE, (character) => (character === "\n" ? character : escape(character)));
}

/** The same for text whose line breaks and tabs are meant. */
export function printableLines(text: string): string {
  return text.replace(UNPRINTABLE, (character) => (/[\n\t]/.test(character) ? character : escape(character)));
}

function escape(character: string): string {
  return NAMES[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
