import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { expect, it } from "vitest";
import { ERROR_GUIDES } from "../../src/contract/error-guides.ts";

const platform = fileURLToPath(new URL("../../src/platform", import.meta.url));

/** Returns the platform's texts of several words as patterns in which each `${…}` matches anything. */
const patterns = readdirSync(platform, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".ts"))
  .flatMap((name) => [
    ...readFileSync(join(platform, name), "utf8").matchAll(/"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g),
  ])
  .map(([, plain, template]) => plain ?? template ?? "")
  .filter((text) => (text.replaceAll(/\$\{[^}]*\}/g, "").match(/[a-z]{2,}/gi) ?? []).length > 2)
  .map((text) => text.split(/\$\{[^}]*\}/).map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)))
  .map((parts) => new RegExp(parts.length === 1 ? parts[0]! : `^${parts.join(".*")}`, "s"));

it.each(Object.entries(ERROR_GUIDES))(
  "the example of %s is a message that the platform sends",
  (_code, { example }) => {
    const message = example.detail.replace(/^\w+: /, "");
    expect(patterns.filter((pattern) => pattern.test(message)).map(String)).not.toEqual([]);
  },
);
