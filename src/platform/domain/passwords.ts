import { scrypt, timingSafeEqual } from "node:crypto";
import type { Random } from "../ports.ts";

/** The parameters of scrypt. */
export interface PasswordCost {
  logN: number;
  r: number;
  p: number;
}

/**
 * 32 MiB and about 200 ms per hash: among the settings that OWASP considers equal, one that needs little memory at
 * once.
 */
const COST: PasswordCost = { logN: 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** More concurrent hashes would take memory without being faster, so the others are queued. */
const AT_ONCE = 2;

const PASSWORD_LENGTH = { min: 10, max: 200 } as const;

interface Hash {
  cost: PasswordCost;
  salt: Uint8Array;
  derived: Uint8Array;
}

/** Returns what is wrong with a new password, or undefined. */
export function problemOfPassword(password: string, email: string): string | undefined {
  const { length } = password;
  if (length < PASSWORD_LENGTH.min) return `A password must have at least ${PASSWORD_LENGTH.min} characters.`;
  if (length > PASSWORD_LENGTH.max) return `A password must have at most ${PASSWORD_LENGTH.max} characters.`;
  if (password.toLowerCase() === email.toLowerCase()) return "The password must differ from the email address.";
  return undefined;
}

/** Hashes and checks passwords, a few at a time. */
export class Passwords {
  readonly #random: Random;
  readonly #cost: PasswordCost;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(random: Random, cost = COST) {
    this.#random = random;
    this.#cost = cost;
  }

  /** Returns true if the hash was created with other parameters than the current ones. */
  isOutdated(stored: string): boolean {
    const { logN, r, p } = this.#cost;
    return !stored.startsWith(["scrypt", logN, r, p, ""].join("$"));
  }

  /** Returns the text to store. It holds salt and parameters, so that they can be raised later. */
  async hash(password: string): Promise<string> {
    const salt = Uint8Array.from(this.#random.bytes(SALT_BYTES));
    const derived = await this.#derive(password, salt, this.#cost);
    const { logN, r, p } = this.#cost;
    return ["scrypt", logN, r, p, Buffer.from(salt).toString("base64"), derived.toString("base64")].join("$");
  }

  /** Returns true if the password matches the hash. Without a hash it takes as long, and returns false. */
  async verify(password: string, stored: string | null): Promise<boolean> {
    const hash = parse(stored);
    const derived = await this.#derive(password, hash?.salt ?? new Uint8Array(SALT_BYTES), hash?.cost ?? this.#cost);
    return hash !== undefined && hash.derived.length === derived.length && timingSafeEqual(hash.derived, derived);
  }

  async #derive(password: string, salt: Uint8Array, { logN, r, p }: PasswordCost): Promise<Buffer> {
    if (this.#running < AT_ONCE) this.#running += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await new Promise((resolve, reject) => {
        const options = { N: 2 ** logN, r, p, maxmem: 256 * 2 ** logN * r };
        // The same character can be typed as one code point or as several.
        scrypt(password.normalize("NFKC"), salt, HASH_BYTES, options, (error, derived) => {
          if (error === null) resolve(derived);
          else reject(error);
        });
      });
    } finally {
      // Passes the slot on to the next in the queue.
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}

function parse(stored: string | null): Hash | undefined {
  const [name, logN, r, p, salt, derived] = (stored ?? "").split("$");
  if (name !== "scrypt" || salt === undefined || derived === undefined) return undefined;
  return {
    cost: { logN: Number(logN), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, "base64"),
    derived: Buffer.from(derived, "base64"),
  };
}
