import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { spawn as spawnInTerminal } from "@lydell/node-pty";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { freePort } from "../support/free-port.ts";
import { type ServedPlatform, servePlatform } from "../support/platform.ts";
import { BIN, cliEnv, createConfigDir, runCli } from "../support/run-cli.ts";
import { install, writeIn } from "./application-folder.ts";
import { type Block, blocksOf, filesOf, nameIn, packagesIn, PAGES, textOf } from "./pages.ts";

const UNTIL_STOPPED = "until stopped";
const VITEST = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));
const isCode = ({ language }: Block): boolean => ["js", "ts"].includes(language);
const isRun = ({ language, note }: Block): boolean =>
  (language === "sh" || language === "js") && (note === "" || note === UNTIL_STOPPED);

/** Pages on which the commands or files of another one are used, which they name at the beginning. */
function pagesWith(page: string): string[] {
  const [, other] = /The examples use the receiver of \[[^\]]+\]\(([\w-]+\.md)\)/.exec(textOf(page)) ?? [];
  return other === undefined ? [page] : [other, page];
}

describe.each(PAGES.filter((page) => blocksOf(page).some(({ language }) => ["sh", "js", "ts"].includes(language))))(
  "%s",
  (page) => {
    const blocks = blocksOf(page);

    it("states what a block needs that is not run", () => {
      const notes = blocks.map(({ note }) => note).filter((note) => note !== "" && note !== UNTIL_STOPPED);
      expect(notes.filter((note) => !/^needs \w/.test(note))).toEqual([]);
    });

    it("has commands and flags that exist", async () => {
      const { stdout: globals } = await runCli(["--help"]);
      const lines = blocks
        // The examples of the command reference are those of the help.
        .filter((block) => block.language === "sh" && !isRun(block) && page !== "commands.md")
        .flatMap(({ text }) => linesOf(text));
      for (const line of lines) {
        for (const [, words = "", flags = ""] of line.matchAll(
          /\bservice(?:-cli)?((?: [a-z][a-z-]*(?![\w./:]))+)([^|]*)/g,
        )) {
          const own = flags.split(" -- ")[0]!;
          const { exitCode, stdout: help } = await runCli([...words.trim().split(" "), "--help"]);
          expect(exitCode, line).toBe(0);
          for (const [flag] of own.matchAll(/(?<=\s)--[a-z-]+/g)) expect(help + globals, line).toContain(flag);
        }
      }
    });

    it("imports only what it installs", () => {
      const known = new Set(pagesWith(page).flatMap((name) => blocksOf(name).flatMap(packagesIn)));
      const files = new Set(pagesWith(page).flatMap((name) => [...filesOf(name).keys()]));
      for (const { text } of blocks.filter((block) => isCode(block) && isRun({ ...block, language: "js" }))) {
        for (const [, name] of text.matchAll(/(?:from |import |require\()"([^"]+)"/g)) {
          if (name!.startsWith(".")) expect([...files], text).toContain(name!.replace(/^(\.\.?\/)+/, ""));
          else if (!isBuiltin(name!)) expect([...known], text).toContain(/^(@[^/]+\/)?[^/]+/.exec(name!)![0]);
        }
      }
    });

    if (blocks.some(isRun)) {
      it("has code that runs, and prints what the page shows", { timeout: 240_000 }, () => runPage(page));
    }
  },
);

let platform: ServedPlatform;
beforeAll(async () => {
  platform = await servePlatform();
});
afterAll(() => platform.stop());

function linesOf(text: string): string[] {
  return text.replaceAll("\\\n", "").trimEnd().split("\n");
}

/** Runs the code of a page in order, in an application that has only what the page installs. */
async function runPage(page: string): Promise<void> {
  const blocks = blocksOf(page);
  const bin = mkdtempSync(join(tmpdir(), "service-fences-"));
  let folder = join(bin, "application");
  mkdirSync(folder);
  for (const name of ["service", "service-cli"]) symlinkSync(BIN, join(bin, name));
  const [port, cwd] = [String(await freePort()), join(bin, "cwd")];
  // A page that starts a platform needs none.
  const startsPlatform = blocks.some(({ note, text }) => note === UNTIL_STOPPED && /service(-cli)? dev$/m.test(text));
  const own = startsPlatform
    ? {}
    : {
        SERVICE_BASE_URL: platform.baseUrl,
        SERVICE_API_KEY: platform.sandboxKey,
        SERVICE_WEBHOOK_SECRET: "whsec_test",
      };
  const env = cliEnv({
    ...own,
    HOME: bin,
    PATH: `${bin}:${process.env["PATH"]}`,
    PORT: port,
    SERVICE_CONFIG_DIR: createConfigDir(),
    npm_config_progress: "false",
    npm_config_update_notifier: "false",
  });
  // As `npm init` writes it, unless the page says otherwise.
  const isModule = pagesWith(page).some((name) => textOf(name).includes("npm pkg set type=module"));
  writeIn(folder, "package.json", JSON.stringify({ type: isModule ? "module" : "commonjs" }));
  // For `npx service-cli`: readers have installed the package, as the front page says.
  install(folder, ["service-cli"]);
  if (!startsPlatform) {
    writeFileSync(join(folder, "key.txt"), platform.sandboxKey);
    // As `service dev` writes it.
    const variables = Object.entries(own).map((pair) => `${pair.join("=")}\n`);
    writeFileSync(join(folder, ".env.local"), variables.join(""));
  }
  for (const other of pagesWith(page).slice(0, -1)) {
    install(folder, blocksOf(other).flatMap(packagesIn));
    for (const [name, text] of filesOf(other)) writeIn(folder, name, text);
  }

  // Apart for each stream, so that lines stay whole.
  const outputs: string[] = [];
  const printed = (): string => outputs.join("\n");
  const collector = (): ((text: string) => void) => {
    const index = outputs.push("") - 1;
    return (text) => (outputs[index] += text);
  };
  let background: ChildProcess | undefined;
  const stop = async (): Promise<void> => {
    if (background?.exitCode !== null || background.signalCode !== null) return;
    const closed = once(background, "close");
    process.kill(-background.pid!, "SIGINT");
    await closed;
  };
  onTestFinished(async () => {
    await stop();
    rmSync(bin, { recursive: true, force: true });
  });
  const start = (command: string, args: readonly string[]): ChildProcess => {
    // In a process group of its own, so that all of its processes can be stopped.
    const child = spawn(command, args, { cwd: folder, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", collector());
    }
    return child;
  };
  const run = async (what: string, command: string, args: readonly string[]): Promise<void> => {
    const [exitCode] = (await once(start(command, args), "close")) as [number | null];
    expect(exitCode, `${what}\n${printed()}`).toBe(0);
  };

  /** Runs a command in a terminal, whose output the page shows. */
  const runInTerminal = async (script: string): Promise<void> => {
    const pty = spawnInTerminal("bash", ["-e", "-c", script], {
      cwd: folder,
      env: { ...env, NO_COLOR: "1" },
      cols: 200,
    });
    pty.onData(collector());
    const exitCode = await new Promise((resolve) => pty.onExit((ended) => resolve(ended.exitCode)));
    expect(exitCode, `${script}\n${printed()}`).toBe(0);
  };

  for (const [i, block] of blocks.entries()) {
    const text = block.text.replaceAll(/\b3000\b/g, port);
    const name = nameIn(text);
    if (name !== undefined) writeIn(folder, name, text);
    if (block.language === "json" && packagesIn(block).length > 0) {
      writeIn(folder, "package.json", text);
      install(folder, packagesIn(block));
    }
    if (block.language === "text" && block.note === "") await expectPrinted(text, printed);
    if (!isRun(block)) continue;
    if (block.language === "js") {
      if (name !== undefined && startsPlatform) continue;
      await run(text, process.execPath, argumentsFor(text, name));
      continue;
    }
    const id = /✓ Triggered \S+ (evt_\w{22})/.exec(printed())?.[1];
    const failed = /✗ (dlv_\w{22})  failed/.exec(printed())?.[1];
    const script = text
      .replaceAll(/npm install [^\n&#]+/g, "true ")
      .replaceAll(/evt_\w{22}/g, (shown) => id ?? shown)
      .replaceAll(/dlv_\w{22}/g, (shown) => failed ?? shown);
    if (block.note === UNTIL_STOPPED) {
      await stop();
      const seen = outputs.length;
      background = start("bash", ["-e", "-c", script]);
      // With `service dev`, the line of the whole and not of one part.
      await expect
        .poll(() => outputs.slice(seen).join("\n"), { timeout: 60_000 })
        .toMatch(/^(dev +│ |[^│\n]*)[^│\n]*\bready\b/im);
    } else if (blocks[i + 1]?.language === "text") {
      await runInTerminal(script);
    } else {
      await run(script, "bash", ["-e", "-x", "-c", `${script}\npwd > ${cwd}`]);
      if (existsSync(cwd)) folder = readFileSync(cwd, "utf8").trim();
      install(folder, packagesIn(block));
    }
  }
}

/** Returns the arguments of Node.js that run a program, load a module, or run the tests of a file. */
function argumentsFor(text: string, name: string | undefined): string[] {
  if (name === undefined) return ["--input-type=module", "-e", text];
  if (!name.includes(".test.")) return ["--input-type=module", "-e", `await import("./${name}"); process.exit();`];
  if (text.includes('"node:test"')) return ["--test", name];
  // Jest's globals are those of Vitest. test/interop runs these files with Jest.
  return [VITEST, "run", "--globals", name];
}

/** Waits until each line was printed, with other IDs, times and durations. */
async function expectPrinted(text: string, printed: () => string): Promise<void> {
  const general = (line: string): string =>
    line
      .replaceAll(/\b([a-z]{2,4})_\w{22}\b/g, "$1_")
      .replaceAll(/\b([sr]k_[a-z]+_)\w…\w{4}/g, "$1")
      .replaceAll(/\d{4}-\d\d-\d\dT/g, "DATE")
      .replaceAll(/\d\d:\d\d:\d\d/g, "TIME")
      .replaceAll(/\d+(\.\d+)? m?s\b/g, "DURATION")
      .replaceAll(/(127\.0\.0\.1|localhost):\d+/g, "HOST")
      .replaceAll(/\s+/g, " ")
      .trim();
  // "…" stands for lines that the page leaves out.
  for (const line of linesOf(text).filter((shown) => shown !== "…")) {
    await vi.waitFor(
      () => {
        // A spinner before a line was erased.
        const shown = printed().replaceAll(/[^\r\n]*\u001B\[1G\u001B\[0K/g, "");
        const lines = stripVTControlCharacters(shown).split(/[\r\n]+/);
        expect(lines.map(general).includes(general(line)), `No line "${line}" in\n${lines.join("\n")}`).toBe(true);
      },
      { timeout: 60_000 },
    );
  }
}
