import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Client } from "../../../client/http.ts";
import { OBJECT_KINDS, pathOf } from "../../../contract/resources.ts";
import type { Identity } from "../../../contract/schemas/account.ts";
import { shellCommand } from "../../../contract/shell-command.ts";
import { createFolder } from "../../../files/folders.ts";
import type { Context } from "../../context.ts";
import { UsageError } from "../../errors.ts";
import { readRegularFile } from "../../project/safe-files.ts";
import { replaceDurably } from "../../../files/replace.ts";
import { Cleanup } from "../../triggering/perform.ts";
import { parseFixture, runFixture } from "../../triggering/fixture.ts";

const MAX_SEED_BYTES = 16 * 1024 * 1024;

interface SeedRecord {
  account: string;
  seed: string;
  /** SHA-256 of the fixture. */
  content: string;
}

/**
 * Sends the calls of a fixture once per account. Each database creates its own account, so a new database gets the seed
 * again. If a call fails, removes what was created, so that the next start can send the seed again. After a reset of the
 * sandbox it is sent again, unless the sandbox was restored to a state with objects. Returns the number of calls;
 * undefined if it was not sent.
 */
export async function sendSeed(seed: string, context: Context, isAfterReset = false): Promise<number | undefined> {
  const bytes = readSeed(seed, context);
  const calls = parseFixture(bytes, seed, "seed");
  const client = await context.client();
  const { body: identity } = await client.request<Identity>({ method: "GET", path: "/v1/me" });
  const content = createHash("sha256").update(bytes).digest("hex");
  const record: SeedRecord = { account: identity.account.id, seed: resolve(context.cwd, seed), content };
  const file = fileOf(record, context);
  if (isAfterReset && !(await isEmpty(client))) return undefined;
  const sent = isAfterReset ? undefined : readRecord(file);
  if (sent !== undefined) {
    if (sent.content !== content) {
      context.output.warn(
        `${seed} has changed since it was sent to this database. It is not sent again. ${shellCommand`To send it: service trigger --fixture ${seed}`}`,
      );
    }
    return undefined;
  }
  const cleanup = new Cleanup();
  try {
    await runFixture(calls, { client, cleanup, findsEvents: false, context });
  } catch (error) {
    if (!context.signal.aborted) await cleanup.run(client, context).catch(() => {});
    throw error;
  }
  createFolder(folderOf(context));
  await replaceDurably(file, `${JSON.stringify(record)}\n`, 0o600);
  return calls.length;
}

async function isEmpty(client: Client): Promise<boolean> {
  const lists = OBJECT_KINDS.map((kind) =>
    client.request<{ data: unknown[] }>({ method: "GET", path: pathOf(kind), query: { limit: 1 } }),
  );
  return (await Promise.all(lists)).every(({ body }) => body.data.length === 0);
}

function readSeed(seed: string, { cwd }: Context): Buffer {
  try {
    return readRegularFile(resolve(cwd, seed), MAX_SEED_BYTES);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "does not exist" : message;
    throw new UsageError(`seed: ${seed} ${reason}`, { code: "input_file", cause: error });
  }
}

function folderOf({ settingsDirectory }: Context): string {
  return join(settingsDirectory, "seeds");
}

/** Another project's file of the same name is a different seed, but it also belongs to a different account. */
function fileOf({ account, seed }: SeedRecord, context: Context): string {
  const name = createHash("sha256")
    .update(JSON.stringify([account, seed]))
    .digest("hex");
  return join(folderOf(context), `${name.slice(0, 32)}.json`);
}

function readRecord(file: string): SeedRecord | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as SeedRecord;
  } catch {
    return undefined;
  }
}
