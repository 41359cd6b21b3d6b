import { scrypt, timingSafeEqual } from "node:crypto";
import type { Random } from "../ports.ts";

/** The parameters of scrypt. */
export interface PasswordCost {
  logN: number;
  r: number;
  p: number;
}

/** 32 MiB and some 200 ms a hash: of the settings that OWASP holds equal, one that needs little memory at once. */
const COST: PasswordCost = { logN: 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** More at once would take memory without being faster: the others wait their turn. */
const AT_ONCE = 2;

/** Characters that a password must have at least and may have at most. */
const PASSWORD_LENGTH = { least: 10, most: 200 } as const;

interface Hash {
  cost: PasswordCost;
  salt: Uint8Array;
  derived: Uint8Array;
}

/** What is wrong with a new password, or undefined. */
export function problemOfPassword(password: string, email: string): string | undefined {
  const { length } = password;
  if (length < PASSWORD_LENGTH.least) return `A password has at least ${PASSWORD_LENGTH.least} characters.`;
  if (length > PASSWORD_LENGTH.most) return `A password has at most ${PASSWORD_LENGTH.most} characters.`;
  if (password.toLowerCase() === email.toLowerCase()) return "The password must not be the email address.";
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

  /** True where the hash was made with other parameters than are used now. */
  isOutdated(stored: string): boolean {
    const { logN, r, p } = this.#cost;
    return !stored.startsWith(["scrypt", logN, r, p, ""].join("$"));
  }

  /** The text to store: it holds salt and parameters, so that they can be raised later. */
  async hash(password: string): Promise<string> {
    const salt = Uint8Array.from(this.#random.bytes(SALT_BYTES));
    const derived = await this.#derive(password, salt, this.#cost);
    const { logN, r, p } = this.#cost;
    return ["scrypt", logN, r, p, Buffer.from(salt).toString("base64"), derived.toString("base64")].join("$");
  }

  /** True where the password is the hashed one. Without a hash it takes as long, and is false. */
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
      // Whoever waits takes over the place.
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
