import type { Random } from "../ports.ts";

/** Consonants without Y: no word comes out, and none is taken for a digit (RFC 8628 6.1). */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const LENGTH = 8;
const CODE = new RegExp(`^[${LETTERS}]{${LENGTH}}$`);

/** Eight letters: 34 bits, guarded by a limit on wrong entries. */
export function newUserCode(random: Random): string {
  let code = "";
  while (code.length < LENGTH) {
    const [byte] = random.bytes(1);
    // 240 is a multiple of 20: every letter is as likely.
    if (byte! < 240) code += LETTERS[byte! % LETTERS.length];
  }
  return code;
}

/** What a person typed as a code: in any case, with spaces or dashes. Undefined where it can be none. */
export function readUserCode(text: string): string | undefined {
  const code = text.toUpperCase().replace(/[\s-]/g, "");
  return CODE.test(code) ? code : undefined;
}

/** As it is shown: two groups of four. */
export function showUserCode(code: string): string {
  return `${code.slice(0, 4)}-${code.slice(4)}`;
}
