import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach } from "vitest";
import { type CredentialPrefix, formatCredential } from "../../../src/contract/credentials.ts";
import { type CliResult, spawnCli } from "../../support/run-cli.ts";

export const newKey = (prefix: CredentialPrefix = "sk_sandbox_") => formatCredential(prefix, randomBytes(32));
export const masked = (key: string) => `${key.slice(0, 12)}…${key.slice(-4)}`;

/** Returns the locations of the findings without their descriptions. */
export const places = ({ stdout }: CliResult) =>
  stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => line.split("\t")[0]!);

/** Creates a folder for each test of a file. Call it at the top of the file. */
export function scannedFolder() {
  let cwd: string;
  beforeEach(() => {
    cwd = mkdtempSync(join(tmpdir(), "service-scan-"));
  });
  return {
    get path() {
      return cwd;
    },
    write: (path: string, content: string | Buffer): void => {
      mkdirSync(dirname(join(cwd, path)), { recursive: true });
      writeFileSync(join(cwd, path), content);
    },
    scan: (...args: string[]) => spawnCli(["keys", "scan", ...args], { cwd }),
  };
}
