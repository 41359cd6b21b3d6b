import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type CredentialPrefix, formatCredential } from "../../src/contract/credentials.ts";
import { apiOf } from "../support/api.ts";
import { type RunningPlatform, startPlatform } from "../support/platform.ts";
import { BIN, type CliResult, runCli } from "../support/run-cli.ts";

const newKey = (prefix: CredentialPrefix = "sk_sandbox_") => formatCredential(prefix, randomBytes(32));
const masked = (key: string) => `${key.slice(0, 12)}…${key.slice(-4)}`;

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "service-scan-"));
});

function write(path: string, content: string | Buffer): void {
  mkdirSync(dirname(join(cwd, path)), { recursive: true });
  writeFileSync(join(cwd, path), content);
}

function git(...args: string[]): string {
  return gitWith("", ...args);
}

function gitWith(input: string, ...args: string[]): string {
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main"];
  const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null" };
  return execFileSync("git", [...identity, ...args], { cwd, encoding: "utf8", input, env, stdio: "pipe" }).trim();
}

const scan = (...args: string[]) => runCli(["keys", "scan", ...args], { cwd });

/** The places that were found, without what is said of them. */
const places = ({ stdout }: CliResult) =>
  stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => line.split("\t")[0]);

describe("service keys scan", () => {
  it("finds every kind of credential by its checksum, and prints where, masked: exit 1", async () => {
    const keys = [...(["sk_live_", "rk_sandbox_", "at_", "rt_", "cs_"] as const)].map((prefix) => newKey(prefix));
    write("config/.env", `A=1\nKEY=${keys[0]}\n`);
    write("b.json", JSON.stringify(keys.slice(1)));
    const result = await scan();
    expect(result.exitCode).toBe(1);
    expect(places(result)).toEqual(["b.json:1", "b.json:1", "b.json:1", "b.json:1", "config/.env:2"]);
    for (const key of keys) {
      expect(result.stdout).toContain(masked(key));
      expect(result.stdout + result.stderr).not.toContain(key);
    }
    expect(result.stdout).toContain(`config/.env:2\t${masked(keys[0]!)}\tlive secret key\t\n`);
    expect(result.stderr).toContain("5 credentials in 5 places.");
  });

  it("is content with what only looks like one: exit 0", async () => {
    const key = newKey();
    write(
      "a.txt",
      [key.slice(0, -1), `${key.slice(0, -1)}${key.endsWith("a") ? "b" : "a"}`, "sk_sandbox_", ""].join("\n"),
    );
    expect(await scan()).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    expect(await scan("--json")).toEqual({ exitCode: 0, stdout: "[]\n", stderr: "" });
  });

  it("finds a real one inside of what only looks like one", async () => {
    const key = newKey();
    write("a.txt", `at_${"x".repeat(47)}${key}${newKey()}`);
    expect(places(await scan())).toEqual(["a.txt:1", "a.txt:1"]);
  });

  it("counts lines, and finds keys across the pieces of 64 KiB in which a file is read", async () => {
    const keys = [newKey(), newKey(), newKey()] as const;
    const upToFirst = "x\n".repeat(32_753);
    const upToSecond = `y${"x\n".repeat(32_737)}`;
    write("large.txt", `${upToFirst}${keys[0]}\n${upToSecond}${keys[1]}\n\n${keys[2]}`);
    expect([upToFirst.length, upToFirst.length + 61 + upToSecond.length]).toEqual([65_536 - 30, 131_072 - 30]);
    expect(places(await scan())).toEqual(["large.txt:32754", "large.txt:65492", "large.txt:65494"]);
  });

  it("skips large binary files, links and .git; looks into small binary files and large text", async () => {
    const key = newKey();
    const megabyte = Buffer.alloc(1024 * 1024 + 1, "x");
    write("small.bin", Buffer.concat([Buffer.from([0, 1, 2]), Buffer.from(key)]));
    write("large.bin", Buffer.concat([Buffer.from([0]), megabyte, Buffer.from(key)]));
    write("large.txt", Buffer.concat([megabyte, Buffer.from(`\n${key}`)]));
    write(".git/config", key);
    symlinkSync(join(cwd, "large.txt"), join(cwd, "link.txt"));
    expect(places(await scan())).toEqual(["large.txt:2", "small.bin:1"]);
  });

  it("looks into files whose names are not UTF-8, and into text of two bytes a character", async () => {
    const name = Buffer.concat([Buffer.from(`${cwd}/`), Buffer.from([0xff, 0xfe]), Buffer.from(".env")]);
    writeFileSync(name, `a\n${newKey()}`);
    write("windows.env", Buffer.from(`\ufeffA=1\r\nKEY=${newKey()}\r\n`, "utf16le"));
    expect(places(await scan())).toEqual(["windows.env:2", "\ufffd\ufffd.env:2"]);
  });

  it("finds keys in the names of files and folders and in the targets of links, and masks them in paths", async () => {
    const keys = [newKey(), newKey(), newKey(), newKey()] as const;
    write(`${keys[0]}/${keys[1]}.txt`, `\n${keys[2]}`);
    symlinkSync(`/nowhere/${keys[3]}`, join(cwd, "link"));
    const result = await scan();
    const folder = masked(keys[0]);
    expect(places(result).sort()).toEqual(
      [folder, `${folder}/${masked(keys[1])}.txt`, `${folder}/${masked(keys[1])}.txt:2`, "link:1"].sort(),
    );
    for (const key of keys) expect(result.stdout + result.stderr).not.toContain(key);
    const { stdout } = await scan("--json");
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ path: folder, line: null, credential: masked(keys[0]) }),
    );
    for (const key of keys) expect(stdout).not.toContain(key);
  });

  it("follows a link that it is given by name", async () => {
    write("real/a.txt", newKey());
    symlinkSync(join(cwd, "real"), join(cwd, "link"));
    expect(places(await scan("link"))).toEqual(["link/a.txt:1"]);
  });

  it("takes one file, and says so where there is none", async () => {
    write("a.txt", newKey());
    write("b.txt", newKey());
    expect(places(await scan("b.txt"))).toEqual(["b.txt:1"]);
    expect(await scan("c.txt")).toMatchObject({ exitCode: 1, stderr: "Error: c.txt does not exist\n" });
  });

  it("prints JSON without the secret", async () => {
    const key = newKey();
    write("a.txt", key);
    const { stdout } = await scan("--json");
    expect(JSON.parse(stdout)).toEqual([
      {
        path: "a.txt",
        line: 1,
        commit: null,
        kind: "secret_key",
        environment: "sandbox",
        credential: masked(key),
        outcome: null,
      },
    ]);
  });
});

describe("service keys scan --staged", () => {
  beforeEach(() => git("init", "-q"));

  it("looks at what will be committed, and at nothing else", async () => {
    write("staged.txt", `one\ntwo\n${newKey()}\n`);
    git("add", ".");
    write("staged.txt", "nothing any more");
    write("unstaged.txt", newKey());
    expect(places(await scan("--staged"))).toEqual(["staged.txt:3"]);
  });

  it("looks behind carriage returns, into binary files, and at what git was told to show no difference of", async () => {
    write("mac.txt", `a\r${newKey()}\rb\r`);
    write("small.bin", Buffer.concat([Buffer.from([0, 1, 2, 10]), Buffer.from(newKey())]));
    write("windows.env", Buffer.from(`A=1\r\nKEY=${newKey()}\r\n`, "utf16le"));
    write(".gitattributes", "*.lock -diff\n");
    write("a.lock", newKey());
    git("add", ".");
    expect(places(await scan("--staged"))).toEqual(["a.lock:1", "mac.txt:1", "small.bin:2", "windows.env:2"]);
  });

  it("counts lines correctly after a file without a newline at its end", async () => {
    write("a.txt", "one\ntwo");
    git("add", ".");
    git("commit", "-qm", "without a newline");
    write("a.txt", `one\nTWO\nthree\n${newKey()}`);
    git("add", ".");
    expect(places(await scan("--staged"))).toEqual(["a.txt:4"]);
  });

  it("counts lines correctly where the line before a change looks like a hunk header", async () => {
    const lines = (last: string) => `function f() { return " +99 @@"\n  a\n  b\n  ${last}\n`;
    write("a.js", lines("c"));
    git("add", ".");
    git("commit", "-qm", "first");
    write("a.js", lines(newKey()));
    git("add", ".");
    expect(places(await scan("--staged"))).toEqual(["a.js:4"]);
  });

  it("finds keys in the names of new, empty and renamed files, and masks them", async () => {
    const keys = [newKey(), newKey(), newKey()] as const;
    write("old.txt", "the same\ntext\n");
    git("add", ".");
    git("commit", "-qm", "old name");
    git("mv", "old.txt", `renamed ${keys[0]}`);
    write(`a "b"/${keys[1]}`, "content");
    write(`empty-${keys[2]}`, "");
    git("add", ".");
    const result = await scan("--staged");
    expect(places(result)).toEqual([
      `a \\"b\\"/${masked(keys[1])}`,
      `empty-${masked(keys[2])}`,
      `renamed ${masked(keys[0])}`,
    ]);
    for (const key of keys) expect(result.stdout).not.toContain(key);
  });

  it("lets a key go that is being removed", async () => {
    write("a.txt", newKey());
    git("add", ".");
    git("commit", "-qm", "with a key");
    git("rm", "-q", "a.txt");
    expect(await scan("--staged")).toMatchObject({ exitCode: 0, stdout: "" });
  });

  it("stops a commit as a pre-commit hook", () => {
    write(".git/hooks/pre-commit", `#!/bin/sh\nexec '${process.execPath}' '${BIN}' keys scan --staged\n`);
    execFileSync("chmod", ["+x", join(cwd, ".git/hooks/pre-commit")]);
    write("a.txt", newKey());
    git("add", ".");
    expect(() => git("commit", "-qm", "with a key")).toThrow("Take it out before you commit");
    write("a.txt", "harmless");
    git("add", ".");
    git("commit", "-qm", "without");
    expect(git("log", "--oneline")).toContain("without");
  });
});

describe("service keys scan --history", () => {
  it("finds keys on every branch, in messages, in merges, and ones that were removed long ago", async () => {
    git("init", "-q");
    write("ümlaut.txt", `a\n${newKey()}\n`);
    git("add", ".");
    git("commit", "-qm", "added");
    git("rm", "-q", "ümlaut.txt");
    git("commit", "-qm", `removed\n\nit was ${newKey()}`);
    git("switch", "-qc", "other");
    write("b.txt", `++ ${newKey()}`);
    git("add", ".");
    git("commit", "-qm", "on a branch");
    git("switch", "-q", "main");
    write("c.txt", "c");
    git("add", ".");
    git("commit", "-qm", "on main");
    git("merge", "-q", "--no-commit", "--no-ff", "other");
    write("c.txt", `c\n${newKey()}\n`);
    git("add", ".");
    git("commit", "-qm", "merged");
    git("switch", "-qc", "empty");
    const found = places(await scan("--history")).map((place) => place!.replace(/^[0-9a-f]+ /, ""));
    expect(found.sort((one, other) => (one < other ? -1 : 1))).toEqual([
      "(commit message):3",
      "b.txt:1",
      "c.txt:2",
      "ümlaut.txt:2",
    ]);
  });

  it("finds keys on merged branches that changed nothing in the end, and in messages that hold patches", async () => {
    git("init", "-q");
    git("config", "log.showRoot", "false");
    write("first.txt", newKey());
    git("add", ".");
    git("commit", "-qm", "first");
    git("switch", "-qc", "side");
    write("side.txt", newKey());
    git("add", ".");
    git("commit", "-qm", "added");
    git("rm", "-q", "side.txt");
    git("commit", "-qm", "removed");
    git("switch", "-q", "main");
    write("a.txt", "a");
    git("add", ".");
    git("commit", "-qm", "main goes on");
    git("merge", "-q", "--no-ff", "-m", "merged", "side");
    git("branch", "-qD", "side");
    git("commit", "-q", "--allow-empty", "-m", `Empty\n\ndiff --git a b\n@@ -1 +1 @@\n-${newKey()}`);
    const found = places(await scan("--history")).map((place) => place!.replace(/^[0-9a-f]+ /, ""));
    expect(found.sort()).toEqual(["(commit message):5", "first.txt:1", "side.txt:1"]);
  });

  it("finds keys in tags, nested tags, tagged files and folders, in names of refs, and in names of people", async () => {
    git("init", "-q");
    const author = `Eve ${newKey()}`;
    git("commit", "-q", "--allow-empty", "-m", "first", "--author", `${author} <eve@example.com>`);
    git("tag", "-a", "v1", "-m", `release\n\n${newKey()}\ndiff --git a b\n${newKey()}`);
    git("tag", "-a", "inner", "-m", newKey());
    git("tag", "-a", "outer", "-m", "outer", "inner");
    git("tag", "-d", "inner");
    git("tag", "file", gitWith(`one\n${newKey()}\n`, "hash-object", "-w", "--stdin"));
    const named = newKey();
    const inFolder = gitWith("x", "hash-object", "-w", "--stdin");
    const folder = gitWith(`100644 blob ${inFolder}\t${named}\n`, "mktree");
    git("tag", "-a", "folder", "-m", "a folder", folder);
    const branch = newKey();
    git("branch", `release/${branch}`);
    const result = await scan("--history");
    const found = places(result).map((place) => place!.replace(/^[0-9a-f]{7} /, "").replace(/[0-9a-f]{10}/, "<id>"));
    expect(found.sort()).toEqual([
      "(blob <id>):2",
      "(commit author)",
      "(tag inner):1",
      "(tag v1):3",
      "(tag v1):5",
      "(tree <id>):1",
      `refs/heads/release/${masked(branch)}`,
    ]);
    for (const key of [branch, named]) expect(result.stdout).not.toContain(key);
  });

  it("finds keys in the names of files that a commit or a merge added", async () => {
    git("init", "-q");
    write(`added-${newKey()}`, "");
    git("add", ".");
    git("commit", "-qm", "added");
    git("switch", "-qc", "side");
    git("commit", "-q", "--allow-empty", "-m", "on the side");
    git("switch", "-q", "main");
    git("merge", "-q", "--no-commit", "--no-ff", "side");
    write(`merged-${newKey()}`, "x");
    git("add", ".");
    git("commit", "-qm", "merged");
    git("rm", "-q", ".", "-r");
    git("commit", "-qm", "removed");
    const found = places(await scan("--history")).map((place) => place!.replace(/^[0-9a-f]+ /, ""));
    expect(found).toEqual([
      expect.stringMatching(/^merged-sk_sandbox_.…....$/),
      expect.stringMatching(/^added-sk_sandbox_.…....$/),
    ]);
  });

  it("says so where there is no repository", async () => {
    const { exitCode, stderr } = await scan("--history");
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^Error: Cannot read the git repository of \.: not a git repository/);
  });
});

describe("service keys scan of a hostile repository", () => {
  const ran = () => join(cwd, "ran");

  /** A program that tells that it ran, and by which setting. */
  function trap(name: string): string {
    const path = join(cwd, `.git/traps/${name}`);
    write(`.git/traps/${name}`, `#!/bin/sh\necho ${name} >> '${ran()}'\nexit 1\n`);
    execFileSync("chmod", ["+x", path]);
    return path;
  }

  it("runs no program that the repository names, and finds its keys", async () => {
    git("init", "-q");
    write("a.txt", newKey());
    write(".gitattributes", "*.txt diff=trap filter=trap\n");
    git("add", ".");
    git("commit", "-qm", "first");
    const signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----";
    const signed = `${git("cat-file", "commit", "HEAD").replace(/^committer .*$/m, `$&\n${signature}`)}\n`;
    git("update-ref", "HEAD", gitWith(signed, "hash-object", "-t", "commit", "-w", "--stdin"));
    write("b.txt", newKey());
    git("add", ".");
    for (const hook of ["post-index-change", "reference-transaction"]) {
      symlinkSync(trap(hook), join(cwd, ".git/hooks", hook));
    }
    appendFileSync(
      join(cwd, ".git/config"),
      `[core]\nfsmonitor = ${trap("fsmonitor")}\npager = ${trap("pager")}\nsshCommand = ${trap("ssh")}
       [log]\nshowSignature = true\n[gpg]\nprogram = ${trap("gpg")}\n[diff]\nexternal = ${trap("diff")}\nsubmodule = diff
       [diff "trap"]\ncommand = ${trap("driver")}\ntextconv = ${trap("textconv")}
       [filter "trap"]\nclean = ${trap("clean")}\nprocess = ${trap("process")}\n[credential]\nhelper = ${trap("helper")}\n`,
    );
    expect(places(await scan("--staged"))).toEqual(["b.txt:1"]);
    expect(places(await scan("--history"))).toEqual([expect.stringMatching(/ a\.txt:1$/)]);
    expect(existsSync(ran())).toBe(false);
    expect(() => git("diff", "--cached")).toThrow();
    expect(existsSync(ran()), "the traps work").toBe(true);
  });

  it("fetches no objects that a partial clone lacks, and says so", async () => {
    git("init", "-q");
    write("a.txt", "a");
    git("add", ".");
    git("commit", "-qm", "first");
    const id = git("rev-parse", "HEAD:a.txt");
    rmSync(join(cwd, ".git/objects", id.slice(0, 2), id.slice(2)));
    appendFileSync(
      join(cwd, ".git/config"),
      `[core]\nrepositoryformatversion = 1\n[extensions]\npartialClone = origin
       [remote "origin"]\npromisor = true\nurl = "ext::${trap("fetch")} %S"\n[protocol "ext"]\nallow = always\n`,
    );
    const { exitCode, stderr } = await scan("--history");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("Is it a partial clone?");
    expect(existsSync(ran())).toBe(false);
    expect(() => git("cat-file", "-p", id)).toThrow();
    expect(existsSync(ran()), "the trap works").toBe(true);
  });
});

describe("service keys scan --revoke", () => {
  let platform: RunningPlatform;
  beforeAll(async () => {
    platform = await startPlatform();
  });
  afterAll(() => platform.stop());

  const made = async (body: object, key = platform.sandboxKey) =>
    (await apiOf(platform.baseUrl, key)("POST", "/v1/api_keys", body)).body.key as string;
  const statusOf = async (key: string) => (await apiOf(platform.baseUrl, key)("GET", "/v1/me")).status;
  const revoke = (...args: string[]) => runCli(["keys", "scan", "--revoke", ...args], { cwd, env: platform.env });

  it("ends full keys by themselves, and restricted ones by the profile's", async () => {
    const keys = [
      await made({}),
      await made({ scopes: ["customers:read"] }),
      await made({ ip_allowlist: ["192.0.2.1/32"] }),
    ];
    write("keys.txt", keys.join("\n"));
    const { exitCode, stdout, stderr } = await revoke();
    expect(exitCode).toBe(1);
    expect(stdout.match(/\trevoked\n/g)).toHaveLength(3);
    expect(stderr).toContain("None of them works any more.");
    expect(await Promise.all(keys.map(statusOf))).toEqual([401, 401, 401]);
  });

  it("tells ended keys from those of another platform", async () => {
    const ended = await made({});
    await revokeBy(ended);
    write("keys.txt", `${ended}\n${newKey()}`);
    const { stdout, stderr } = await revoke();
    expect(stdout).toContain("\thad ended already\n");
    expect(stdout).toContain(`\tnot known at ${platform.baseUrl}\n`);
    expect(stderr).toContain("1 could not be ended.");
  });

  it("needs --yes for live keys where nobody can be asked", async () => {
    const key = await made({}, platform.liveKey);
    write("keys.txt", key);
    expect(await revoke()).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--yes is required") });
    expect(await statusOf(key)).toBe(200);
    expect(await revoke("--yes")).toMatchObject({ exitCode: 1 });
    expect(await statusOf(key)).toBe(401);
  });

  async function revokeBy(key: string): Promise<void> {
    const api = apiOf(platform.baseUrl, key);
    const { body } = await api("GET", "/v1/me");
    await api("POST", `/v1/api_keys/${body.credential.id}/revoke`, {});
  }
});
