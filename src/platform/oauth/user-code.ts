import type { Random } from "../ports.ts";

/** Consonants without Y: they spell no word and are not mistaken for digits (RFC 8628 6.1). */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const LENGTH = 8;
const CODE = new RegExp(`^[${LETTERS}]{${LENGTH}}$`);

/** Eight letters: 34 bits, protected by a limit on wrong entries. */
export function newUserCode(random: Random): string {
  let code = "";
  while (code.length < LENGTH) {
    const [byte] = random.bytes(1);
    // 240 is a multiple of 20, so every letter is equally likely.
    if (byte! < 240) code += LETTERS[byte! % LETTERS.length];
  }
  return code;
}

/** Normalizes a typed code: any case, with spaces or dashes. Returns undefined if it cannot be a code. */
export function readUserCode(text: string): string | undefined {
  const code = text.toUpperCase().replace(/[\s-]/g, "");
  return CODE.test(code) ? code : undefined;
}

/** Formats a code for display: two groups of four. */
export function showUserCode(code: string): string {
  return `${code.slice(0, 4)}-${code.slice(4)}`;
}
