// Control characters would let stored text move the cursor, change colors or break a line of output. Direction marks
// would change the order in which it is displayed.
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const NAMES: Readonly<Record<string, string>> = { "\n": String.raw`\n`, "\r": String.raw`\r`, "\t": String.raw`\t` };

/** Makes untrusted text safe for one line or one table cell. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, escape);
}

/** Makes serialized JSON safe, where such characters occur only inside strings. */
export function printableJson(json: string): string {
  return json.replace(UNPRINTABLE, (character) => (character === "\n" ? character : escape(character)));
}

/** Makes text with intended line breaks and tabs safe. */
export function printableLines(text: string): string {
  return text.replace(UNPRINTABLE, (character) => (/[\n\t]/.test(character) ? character : escape(character)));
}

/** The styles that this program uses, and characters that are not printable. */
const STYLE_OR_UNPRINTABLE = new RegExp(String.raw`\u001b\[(?:[0127]|2[27]|3[1-69])m|${UNPRINTABLE.source}`, "g");

/** Makes whole lines of output safe, which keep their styles, line breaks and tabs. */
export function printableOutput(text: string): string {
  return text.replace(STYLE_OR_UNPRINTABLE, (found) =>
    found.length > 1 || /[\n\t]/.test(found) ? found : escape(found),
  );
}

const ANY_STYLE_OR_UNPRINTABLE = new RegExp(String.raw`\u001b\[[\d;:]*m|${UNPRINTABLE.source}`, "g");

/** Makes a line of another program safe, which keeps any of its styles. */
export function printableStyled(text: string): string {
  const shown = text.replaceAll("\t", "    ");
  return shown.replace(ANY_STYLE_OR_UNPRINTABLE, (found) => (found.length > 1 ? found : escape(found)));
}

function escape(character: string): string {
  return NAMES[character] ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Escapes text for an element or attribute. XML 1.0 cannot represent most control characters, nor halves of surrogate pairs. */
export function escapeXml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
    .replaceAll(/[&<>"]/g, (character) => ENTITIES[character]!);
}
