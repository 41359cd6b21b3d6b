import { execFileSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeEnvFile } from "../../src/cli/forwarding/files.ts";
import { listening, createFolder } from "./support/listening.ts";

const on = listening();
const { service } = on;

describe("--write-env", () => {
  const write = (file: string) => service(["listen", "--write-env", file, "--", "true"]);

  it("creates a private file with the given variable name", async () => {
    const file = join(createFolder(), ".env");
    expect((await write(file)).exitCode).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(`SERVICE_WEBHOOK_SECRET=${on.secret}\n`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await write(`${file}:MY_SECRET`);
    expect(readFileSync(file, "utf8")).toBe(`SERVICE_WEBHOOK_SECRET=${on.secret}\nMY_SECRET=${on.secret}\n`);
  });

  it.each([
    ["A=1\nSERVICE_WEBHOOK_SECRET=old # note\nB=2", (s: string) => `A=1\nSERVICE_WEBHOOK_SECRET=${s}\nB=2`],
    ["A=1", (s: string) => `A=1\nSERVICE_WEBHOOK_SECRET=${s}\n`],
    ["A=1\r\nexport SERVICE_WEBHOOK_SECRET=x\r\n", (s: string) => `A=1\r\nexport SERVICE_WEBHOOK_SECRET=${s}\r\n`],
    ["# SERVICE_WEBHOOK_SECRET=no\n", (s: string) => `# SERVICE_WEBHOOK_SECRET=no\nSERVICE_WEBHOOK_SECRET=${s}\n`],
    ["X_SERVICE_WEBHOOK_SECRET=1\n", (s: string) => `X_SERVICE_WEBHOOK_SECRET=1\nSERVICE_WEBHOOK_SECRET=${s}\n`],
  ])("changes one line of %j and keeps the rest, its mode and its link", async (before, after) => {
    const directory = createFolder();
    const file = join(directory, "real.env");
    writeFileSync(file, before);
    chmodSync(file, 0o640);
    symlinkSync("real.env", join(directory, ".env"));
    expect((await write(join(directory, ".env"))).exitCode).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(after(on.secret));
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(readdirSync(directory).sort()).toEqual([".env", "real.env"]);
  });

  it("keeps bytes that are not UTF-8", async () => {
    const file = join(createFolder(), ".env");
    const name = Buffer.from("NAME=Jos\u00e9\n", "latin1");
    writeFileSync(file, name);
    expect((await write(file)).exitCode).toBe(0);
    expect(readFileSync(file)).toEqual(Buffer.concat([name, Buffer.from(`SERVICE_WEBHOOK_SECRET=${on.secret}\n`)]));
  });

  it("warns only if other users can read the file", async () => {
    const file = join(createFolder(), ".env");
    writeFileSync(file, "");
    chmodSync(file, 0o644);
    const warning = `Warning: ${file} contains the signing secret and is readable by other users. Run: chmod 600 ${file}\n`;
    expect((await write(file)).stderr).toContain(warning);
    expect((await write(file)).stderr).toContain(warning);
    chmodSync(file, 0o600);
    expect((await write(file)).stderr).not.toContain("Warning");
  });

  it.each(['ab #cd"e', "it's", "$HOME `id` \\n.", "~/x y&z;", "schlüssel€", ""])(
    "writes %j so that Node.js and a POSIX shell read the same",
    async (value) => {
      const file = join(createFolder(), ".env");
      writeFileSync(file, "");
      await writeEnvFile(file, { OTHER: "1", VALUE: value, LAST: "2" });
      const show = "process.stdout.write(JSON.stringify([process.env.VALUE, process.env.LAST]))";
      const node = process.execPath;
      const byNode = execFileSync(node, [`--env-file=${file}`, "-e", show], { encoding: "utf8", env: {} });
      const script = 'set -a; . "$1"; exec "$2" -e "$3"';
      const byShell = execFileSync("/bin/sh", ["-c", script, "sh", file, node, show], { encoding: "utf8", env: {} });
      expect([byNode, byShell].map((text) => JSON.parse(text) as unknown)).toEqual([
        [value, "2"],
        [value, "2"],
      ]);
    },
  );

  it.each(["whsec_a\nLD_PRELOAD=evil.so", "whsec_a\r", "whsec_\u0085", "a\u2028B=1", "'$a", "a b\\"])(
    "rejects %j, which would be parsed differently, and writes nothing",
    async (value) => {
      const file = join(createFolder(), ".env");
      writeFileSync(file, "A=1\n");
      await expect(writeEnvFile(file, { VALUE: value })).rejects.toThrow(/^the value of VALUE contains /);
      expect(readFileSync(file, "utf8")).toBe("A=1\n");
    },
  );

  it.each([
    [[".env:MY-SECRET"], 2, '"MY-SECRET" is not the name of a variable'],
    [[".env:"], 2, '"" is not the name of a variable'],
    [[".env", "--secret", "a\nb"], 1, "--write-env: cannot write FOLDER/.env: the value of SERVICE_WEBHOOK_SECRET"],
    [["none/.env"], 1, "--write-env: cannot write FOLDER/none/.env: folder FOLDER/none does not exist"],
    [["."], 1, "--write-env: cannot write FOLDER/.: it is a folder; pass a file in it"],
  ])("is validated before the connection: %j", async ([file, ...args], exitCode, message) => {
    const folder = createFolder();
    const env = { SERVICE_BASE_URL: "http://127.0.0.1:9", SERVICE_API_KEY: on.platform.sandboxKey };
    const ended = await service(["listen", "--write-env", `${folder}/${file}`, ...args], { env });
    expect(ended).toMatchObject({ exitCode, stdout: "" });
    expect(ended.stderr).toContain(message.replaceAll("FOLDER", folder));
    expect(readdirSync(folder)).toEqual([]);
  });

  it("quotes a secret that the user chose", async () => {
    const file = join(createFolder(), ".env");
    expect((await service(["listen", "--write-env", file, "--secret", 'ab #cd"e', "--", "true"])).exitCode).toBe(0);
    expect(readFileSync(file, "utf8")).toBe(`SERVICE_WEBHOOK_SECRET='ab #cd"e'\n`);
  });

  it("does not touch a file that already has the value, and exits if it cannot write", async () => {
    const file = join(createFolder(), ".env");
    await write(file);
    const { ino } = statSync(file);
    await write(file);
    expect(statSync(file).ino).toBe(ino);
    const { exitCode, stderr } = await write(join(file, "below"));
    expect(exitCode).toBe(1);
    expect(stderr).toContain("--write-env:");
  });
});
