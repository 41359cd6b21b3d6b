import { describe, expect, it } from "vitest";
import { declareCommand, ParsedCommand } from "../../src/cli/command.ts";
import { COMMANDS } from "../../src/cli/command-table.ts";
import { TOPICS } from "../../src/cli/commands/help/index.ts";
import { textOf } from "../docs/pages.ts";
import { runCli, spawnCli } from "../support/run-cli.ts";

/** Returns the words that name each command of the program. */
async function everyCommand(): Promise<string[][]> {
  const found: string[][] = [[]];
  for (const { name, load } of COMMANDS) {
    const command = declareCommand(new ParsedCommand("service"), (await load()).command);
    found.push([name], ...command.commands.map((child) => [name, child.name()]));
  }
  return found;
}

/** Text in quotes cannot be broken where it is to be pasted. */
const UNBREAKABLE = /^\s*(\$ )?(\S*(["']).*\3\S*|\S+)( \\)?$/;

describe("the help of every command", () => {
  it.each([40, 41, 47, 56, 66, 72, 80, 100])("breaks lines only between words at %i columns", async (columns) => {
    const broken: string[] = [];
    for (const words of await everyCommand()) {
      const { exitCode, stdout } = await runCli([...words, "--help"], { columns });
      expect(exitCode).toBe(0);
      broken.push(...stdout.split("\n").filter((line) => line.length > columns && !UNBREAKABLE.test(line)));
    }
    expect(broken).toEqual([]);
  });

  it("puts every comment above its example unless all have room next to them", async () => {
    const examples = async (columns: number) => (await runCli(["--help"], { columns })).stdout.split("Usage")[0]!;
    expect(await examples(100)).toMatch(/\$ service demo +# End-to-end demo\n/);
    const narrow = await examples(60);
    expect(narrow).toContain("  # Trigger an event\n  $ service trigger order.completed\n");
    expect(narrow).not.toMatch(/\$ .*#/);
  });

  it.each(Object.keys(TOPICS))(
    "fits the topic %s into 80 columns, as docs/commands.md shows it with npx",
    async (topic) => {
      const { stdout } = await spawnCli(["help", topic], { env: { npm_command: "exec" } });
      expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
      const [, shown] = textOf("commands.md").split(`### Topic: ${topic}\n\n\`\`\`text\n`);
      expect(stdout).toContain(shown!.split("```")[0]);
    },
  );

  it("omits rarely used flags, which still work", async () => {
    const help = async (...words: string[]) => (await runCli([...words, "--help"])).stdout;
    expect(await help()).not.toMatch(/^ {2}version /m);
    expect(await help("clock")).toMatch(/^ {2}cancel {2}/m);
    expect(await help("orders", "complete")).toContain("--idempotency-key");
    expect(await help("customers", "get")).not.toContain("Fields");
    expect(await help("customers", "list")).toContain("Fields");
    expect(await help("serve")).not.toContain("--drain-delay");
    expect(await help("serve")).toMatch(/^For \d+ more flags: service help serve --all$/m);
    const { stdout } = await runCli(["help", "serve", "--all"]);
    expect(stdout).toContain("--drain-delay <seconds>");
    expect(stdout).not.toMatch(/more flags?:/);
    expect(await help("whoami")).not.toMatch(/more flags?:/);
    expect((await runCli(["version"])).exitCode).toBe(0);
    expect((await runCli(["clock", "cancel", "--help"])).exitCode).toBe(0);
  });
});
