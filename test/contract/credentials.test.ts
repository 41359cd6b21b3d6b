import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  CREDENTIAL_PREFIXES,
  type CredentialPrefix,
  formatCredential,
  formatSigningSecret,
  parseCredential,
} from "../../src/contract/credentials.ts";

const prefixes = Object.keys(CREDENTIAL_PREFIXES) as CredentialPrefix[];
const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 });

describe("credentials", () => {
  it("are split into their parts", () => {
    fc.assert(
      fc.property(fc.constantFrom(...prefixes), secrets, (prefix, random) => {
        const text = formatCredential(prefix, random);
        expect(text).toHaveLength(prefix.length + 49);
        expect(parseCredential(text)).toEqual({ prefix, ...CREDENTIAL_PREFIXES[prefix] });
      }),
    );
  });

  it("are rejected with any character changed or missing, or with another prefix", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...prefixes),
        secrets,
        fc.nat(48),
        fc.constantFrom("a", "B", "7"),
        (prefix, random, at, letter) => {
          const text = formatCredential(prefix, random);
          const place = prefix.length + at;
          fc.pre(text[place] !== letter);
          expect(parseCredential(text.slice(0, place) + letter + text.slice(place + 1))).toBeUndefined();
          expect(parseCredential(text.slice(0, -1))).toBeUndefined();
          expect(parseCredential(`${text} `)).toBeUndefined();
          for (const other of prefixes.filter((name) => name !== prefix)) {
            expect(parseCredential(other + text.slice(prefix.length))).toBeUndefined();
          }
        },
      ),
    );
  });

  it("contain exactly 256 random bits", () => {
    expect(() => formatCredential("sk_live_", randomBytes(31))).toThrow(RangeError);
    expect(formatSigningSecret(randomBytes(32))).toMatch(/^whsec_[0-9A-Za-z_-]{43}$/);
  });
});
