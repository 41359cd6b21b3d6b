import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const programs = {
  collect: new URL("children/collect.ts", import.meta.url),
  "foreign-runtime": new URL("children/foreign-runtime.ts", import.meta.url),
  "full-disk": new URL("children/full-disk.ts", import.meta.url),
  hold: new URL("children/hold.ts", import.meta.url),
  migrate: new URL("children/migrate.ts", import.meta.url),
  "migrate-postgres": new URL("children/migrate-postgres.ts", import.meta.url),
  unprivileged: new URL("children/unprivileged.ts", import.meta.url),
  write: new URL("children/write.ts", import.meta.url),
};
const packages = fileURLToPath(new URL("../../../node_modules", import.meta.url));

/** Bundles the programs of storage into a folder. Without packages they find only the SQLite of Node.js. */
export function buildChildren(folder: string, options = { packages: true }): Promise<void> {
  return bundlePrograms(Object.values(programs), folder, options);
}

/** Bundles programs into a folder, each as `<name>.mjs`. */
export async function bundlePrograms(
  urls: readonly URL[],
  folder: string,
  options = { packages: true },
): Promise<void> {
  await build({
    entryPoints: urls.map((url) => fileURLToPath(url)),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20.19",
    external: ["@photostructure/sqlite", "pg"],
    logLevel: "warning",
  });
  if (options.packages) symlinkSync(packages, join(folder, "node_modules"));
}

export interface Child {
  readonly process: ChildProcess;
  /** The lines that it has written to stdout so far. */
  readonly lines: string[];
  /** Resolves with the n-th line (from 0). Rejects if the child exits before. */
  line(index: number): Promise<string>;
  /** How it exited, once all its output was read. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; stderr: string }>;
}

/** Starts a bundled program with this Node.js, through `prefix` (a command that runs another) if given. */
export function startChild(
  folder: string,
  program: keyof typeof programs,
  args: readonly string[],
  options: { prefix?: readonly string[]; nodeArguments?: readonly string[] } = {},
): Child {
  const command = [
    ...(options.prefix ?? []),
    process.execPath,
    ...(options.nodeArguments ?? []),
    join(folder, `${program}.mjs`),
    ...args,
  ];
  const child = spawn(command[0] ?? "", command.slice(1), { stdio: ["pipe", "pipe", "pipe"] });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on("line", (line) => lines.push(line));
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const linesRead = once(reader, "close");
  const ended = once(child, "close").then(async ([code, signal]) => {
    await linesRead;
    return { code: code as number | null, signal: signal as NodeJS.Signals | null, stderr };
  });
  const line = async (index: number): Promise<string> => {
    const gone = ended.then((how) => {
      if (lines.length <= index) throw new Error(`${program} ended: ${JSON.stringify(how)}`);
    });
    while (lines.length <= index) await Promise.race([once(reader, "line"), gone]);
    return lines[index] ?? "";
  };
  return { process: child, lines, line, ended };
}
