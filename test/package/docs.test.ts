import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

describe("test/threats.md", () => {
  const root = new URL("../../", import.meta.url);
  const rowsOf = (file: string): string[][] =>
    [...readFileSync(new URL(file, root), "utf8").matchAll(/^\| (.+) \|$/gm)]
      .map(([, row]) => row!.split("|").map((cell) => cell.trim()))
      .filter(([first]) => !/^(-+|Case|Threat|Decision)$/.test(first!));
  const rows = rowsOf("test/threats.md");

  it("lists existing tests in each row, or explains why there are none", () => {
    expect(rows.length).toBeGreaterThan(100);
    for (const [threat, tests = ""] of rows) {
      const files = tests.match(/test\/[\w./-]+/g) ?? [];
      expect(files.length > 0 || tests.startsWith("None: "), threat).toBe(true);
      expect(
        files.filter((file) => !existsSync(new URL(file, root))),
        threat,
      ).toEqual([]);
    }
  });

  it("contains every threat of docs/security.md", () => {
    const security = readFileSync(new URL("docs/security.md", root), "utf8");
    const threats = rowsOf("docs/security.md").filter(
      ([threat]) => security.indexOf("## Threats") < security.indexOf(`| ${threat} `),
    );
    expect(threats.length).toBeGreaterThan(20);
    const known = new Set(rows.map(([threat]) => threat));
    expect(threats.map(([threat]) => threat).filter((threat) => !known.has(threat))).toEqual([]);
  });
});
