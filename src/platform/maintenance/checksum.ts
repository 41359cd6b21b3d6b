import { createHash } from "node:crypto";
import type { SqlValue } from "../storage/database.ts";

/**
 * A checksum of rows in whatever order: the sum of their SHA-256s modulo 2^256, so that two databases agree however each
 * of them sorts.
 */
export class RowChecksum {
  #sum = 0n;
  #counted = 0;

  add(values: readonly SqlValue[]): void {
    const hash = createHash("sha256")
      .update(JSON.stringify(values.map(plain)))
      .digest("hex");
    this.#sum = BigInt.asUintN(256, this.#sum + BigInt(`0x${hash}`));
    this.#counted += 1;
  }

  get rows(): number {
    return this.#counted;
  }

  get text(): string {
    return this.#sum.toString(16).padStart(64, "0");
  }
}

/** A value as JSON can hold it; bytes can be told from text. */
export function plain(value: SqlValue): string | number | null | { bytes: string } {
  return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString("base64") } : value;
}

export function fromPlain(value: ReturnType<typeof plain>): SqlValue {
  return typeof value === "object" && value !== null ? Buffer.from(value.bytes, "base64") : value;
}
