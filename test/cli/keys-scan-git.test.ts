import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { BIN } from "../support/run-cli.ts";
import { masked, newKey, places, scannedFolder } from "./support/scanned-folder.ts";

const folder = scannedFolder();
const { write, scan } = folder;

function git(...args: string[]): string {
  return gitWith("", ...args);
}

function gitWith(input: string, ...args: string[]): string {
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main"];
  const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null" };
  return execFileSync("git", [...identity, ...args], {
    cwd: folder.path,
    encoding: "utf8",
    input,
    env,
    stdio: "pipe",
  }).trim();
}

describe("service keys scan --staged outside a repository", () => {
  it("fails, and explains how to scan the files", async () => {
    const { exitCode, stderr } = await scan("--staged");
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^Error: .* is not in a git repository\nTo scan the files themselves: service keys scan /);
  });
});

describe("service keys scan --staged", () => {
  beforeEach(() => git("init", "-q"));

  it("searches only what will be committed", async () => {
    write("staged.txt", `one\ntwo\n${newKey()}\n`);
    git("add", ".");
    write("staged.txt", "nothing any more");
    write("unstaged.txt", newKey());
    expect(places(await scan("--staged"))).toEqual(["staged.txt:3"]);
  });

  it("searches after carriage returns, in binary files, and in files hidden by git attributes", async () => {
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

  it("counts lines correctly if the line before a change looks like a hunk header", async () => {
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

  it("ignores a key that is being removed", async () => {
    write("a.txt", newKey());
    git("add", ".");
    git("commit", "-qm", "with a key");
    git("rm", "-q", "a.txt");
    expect(await scan("--staged")).toMatchObject({ exitCode: 0, stdout: "" });
  });

  it("stops a commit as a pre-commit hook", () => {
    write(".git/hooks/pre-commit", `#!/bin/sh\nexec '${process.execPath}' '${BIN}' keys scan --staged\n`);
    execFileSync("chmod", ["+x", join(folder.path, ".git/hooks/pre-commit")]);
    write("a.txt", newKey());
    git("add", ".");
    expect(() => git("commit", "-qm", "with a key")).toThrow("If you remove it before you commit");
    write("a.txt", "harmless");
    git("add", ".");
    git("commit", "-qm", "without");
    expect(git("log", "--oneline")).toContain("without");
  });
});

describe("service keys scan --history", () => {
  it("finds keys on every branch, in messages and merges, and keys that were removed long ago", async () => {
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
    const found = places(await scan("--history")).map((place) => place.replace(/^[0-9a-f]+ /, ""));
    expect(found.sort((one, other) => (one < other ? -1 : 1))).toEqual([
      "(commit message):3",
      "b.txt:1",
      "c.txt:2",
      "ümlaut.txt:2",
    ]);
  });

  it("finds keys on merged branches without a net change, and in messages that contain patches", async () => {
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
    const found = places(await scan("--history")).map((place) => place.replace(/^[0-9a-f]+ /, ""));
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
    const tree = gitWith(`100644 blob ${inFolder}\t${named}\n`, "mktree");
    git("tag", "-a", "folder", "-m", "a folder", tree);
    const branch = newKey();
    git("branch", `release/${branch}`);
    const result = await scan("--history");
    const found = places(result).map((place) => place.replace(/^[0-9a-f]{7} /, "").replace(/[0-9a-f]{10}/, "<id>"));
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
    const found = places(await scan("--history")).map((place) => place.replace(/^[0-9a-f]+ /, ""));
    expect(found).toEqual([
      expect.stringMatching(/^merged-sk_sandbox_.…....$/),
      expect.stringMatching(/^added-sk_sandbox_.…....$/),
    ]);
  });

  it("reports a path outside a repository", async () => {
    const { exitCode, stderr } = await scan("--history");
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^Error: Cannot read the git repository of \.: not a git repository/);
  });
});

describe("service keys scan of a hostile repository", () => {
  const ran = () => join(folder.path, "ran");

  /** Creates a program that records that it ran, and the setting that ran it. */
  function trap(name: string): string {
    const path = join(folder.path, `.git/traps/${name}`);
    write(`.git/traps/${name}`, `#!/bin/sh\necho ${name} >> '${ran()}'\nexit 1\n`);
    execFileSync("chmod", ["+x", path]);
    return path;
  }

  it("runs no program that the repository configures, and finds its keys", async () => {
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
      symlinkSync(trap(hook), join(folder.path, ".git/hooks", hook));
    }
    appendFileSync(
      join(folder.path, ".git/config"),
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

  it("fetches no missing objects of a partial clone, and reports it", async () => {
    git("init", "-q");
    write("a.txt", "a");
    git("add", ".");
    git("commit", "-qm", "first");
    const id = git("rev-parse", "HEAD:a.txt");
    rmSync(join(folder.path, ".git/objects", id.slice(0, 2), id.slice(2)));
    appendFileSync(
      join(folder.path, ".git/config"),
      `[core]\nrepositoryformatversion = 1\n[extensions]\npartialClone = origin
       [remote "origin"]\npromisor = true\nurl = "ext::${trap("fetch")} %S"\n[protocol "ext"]\nallow = always\n`,
    );
    const { exitCode, stderr } = await scan("--history");
    expect(exitCode).toBe(1);
    expect(stderr).toContain("If this is a partial clone");
    expect(existsSync(ran())).toBe(false);
    expect(() => git("cat-file", "-p", id)).toThrow();
    expect(existsSync(ran()), "the trap works").toBe(true);
  });
});
