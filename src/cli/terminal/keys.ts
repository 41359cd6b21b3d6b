import type { Context } from "../context.ts";

/** A key press: a name such as `up` or `ctrl-c`, the typed character, or pasted text. */
export interface Key {
  name: string;
  /** The typed text; absent for keys that type nothing. */
  text?: string;
}

/** Sequences of xterm, which other terminals send too: `ESC [` or `ESC O`, numbers, and a last character. */
const NAMES: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  H: "home",
  F: "end",
  "1~": "home",
  "4~": "end",
  "5~": "page up",
  "6~": "page down",
  "7~": "home",
  "8~": "end",
};
const CONTROLS: Readonly<Record<string, string>> = {
  "\r": "enter",
  "\n": "enter",
  "\t": "tab",
  "\b": "backspace",
  "\u007f": "backspace",
  "\u001b": "escape",
};
const PASTE_BEGIN = "\u001b[200~";
const PASTE_END = "\u001b[201~";
const SEQUENCE = /^\u001b(?:\[|O)([\d;]*)([~A-Za-z])/;
/** A sequence whose rest may still arrive. */
const INCOMPLETE = /^\u001b(?:(?:\[|O)[\d;]*)?$/;
/** Longer pastes are dropped. */
const MAX_PASTE_LENGTH = 64 * 1024;

/** Parses key presses from the input of a terminal. */
export class KeyReader {
  #waiting = "";
  /** What has arrived of a paste: only the part that may begin its end, once it is too long. */
  #paste: { text: string; isTooLong: boolean } | undefined;

  /**
   * Returns the keys in this input. A sequence that is incomplete waits for the next input, or for `flush`. A paste waits
   * for its end.
   */
  push(input: string): Key[] {
    const keys: Key[] = [];
    let rest = this.#waiting + input;
    this.#waiting = "";
    while (rest !== "") {
      const [sequence, , last] = SEQUENCE.exec(rest) ?? [];
      if (this.#paste !== undefined) {
        rest = this.#pasted(this.#paste, rest, keys);
      } else if (INCOMPLETE.test(rest)) {
        this.#waiting = rest;
        return keys;
      } else if (sequence === PASTE_BEGIN) {
        this.#paste = { text: "", isTooLong: false };
        rest = rest.slice(sequence.length);
      } else if (sequence !== undefined) {
        const name = NAMES[last === "~" ? sequence.slice(2).replace(/;.*~/, "~") : last!];
        if (name !== undefined) keys.push({ name });
        rest = rest.slice(sequence.length);
      } else {
        const character = String.fromCodePoint(rest.codePointAt(0)!);
        keys.push(keyOf(character));
        rest = rest.slice(character.length);
      }
    }
    return keys;
  }

  /** Adds to a paste. Returns the input after its end. */
  #pasted(paste: { text: string; isTooLong: boolean }, input: string, keys: Key[]): string {
    const text = paste.text + input;
    const end = text.indexOf(PASTE_END);
    const isTooLong = paste.isTooLong || (end < 0 ? text.length : end) > MAX_PASTE_LENGTH;
    if (end < 0) {
      this.#paste = { text: isTooLong ? text.slice(-PASTE_END.length) : text, isTooLong };
      return "";
    }
    this.#paste = undefined;
    if (!isTooLong) keys.push({ name: "paste", text: text.slice(0, end) });
    return text.slice(end + PASTE_END.length);
  }

  /** True while an incomplete sequence waits. */
  get isWaiting(): boolean {
    return this.#waiting !== "";
  }

  /** Returns the keys of an incomplete sequence: the escape key alone sends its first character. */
  flush(): Key[] {
    const waiting = this.#waiting;
    this.#waiting = "";
    return waiting.split("").map(keyOf);
  }
}

function keyOf(character: string): Key {
  const name = CONTROLS[character];
  if (name !== undefined) return { name };
  const code = character.charCodeAt(0);
  if (code < 0x20) return { name: `ctrl-${String.fromCharCode(code + 0x60)}` };
  return { name: character, text: character };
}

const CTRL_C = "\u0003";

/**
 * Resolves with the first of these keys that is pressed; undefined once the signal is aborted. Ctrl-C interrupts. Any
 * other key calls `onOther`.
 */
export function keyPressed<Key extends string>(
  keys: readonly Key[],
  { stdin, interrupt }: Context,
  { signal, onOther }: { signal: AbortSignal; onOther: () => void },
): Promise<Key | undefined> {
  return new Promise((resolve) => {
    const end = (key?: Key): void => {
      stdin.off("data", onData).setRawMode(false);
      stdin.pause();
      signal.removeEventListener("abort", onAbort);
      resolve(key);
    };
    const onAbort = (): void => end();
    const onData = (data: Buffer | string): void => {
      const typed = data.toString();
      if (typed.includes(CTRL_C)) return interrupt();
      const key = keys.find((candidate) => typed.includes(candidate));
      if (key === undefined) onOther();
      else end(key);
    };
    stdin.setRawMode(true);
    stdin.on("data", onData).resume();
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
