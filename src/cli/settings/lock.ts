import { randomUUID } from "node:crypto";
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeSync,
} from "node:fs";
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

/** A holder updates the file's time at least this often. */
const HEARTBEAT_MILLISECONDS = 2000;
/** After this time the lock counts as abandoned, even if a process has the holder's ID now. */
const STALE_MILLISECONDS = 15_000;
const POLL_MILLISECONDS = 20;
const TIMEOUT_MILLISECONDS = 60_000;

/**
 * Runs a task while no other process runs one under the same lock file. A holder that was killed loses the lock at
 * once, or after 15 s if its process ID means nothing here (another machine, container or boot). Rejects with the file
 * system's error if the lock cannot be written, and after waiting for a minute.
 */
export async function withLock<Result>(
  file: string,
  work: () => Promise<Result>,
  signal?: AbortSignal,
): Promise<Result> {
  const owner = `${process.pid} ${processSpace()} ${randomUUID()}`;
  await acquire(file, owner, signal);
  const heartbeat = setInterval(() => touch(file), HEARTBEAT_MILLISECONDS);
  heartbeat.unref();
  try {
    return await work();
  } finally {
    clearInterval(heartbeat);
    // A process that slept for long may have lost it to another.
    if (ownerOf(file) === owner) rmSync(file, { force: true });
  }
}

async function acquire(file: string, owner: string, signal: AbortSignal | undefined): Promise<void> {
  const deadline = performance.now() + TIMEOUT_MILLISECONDS;
  while (!create(file, owner)) {
    signal?.throwIfAborted();
    if (performance.now() > deadline) {
      throw Object.assign(new Error(`another process holds ${file}`), { code: "ELOCKED" });
    }
    if (isAbandoned(file)) removeAbandoned(file);
    else await delay(POLL_MILLISECONDS);
  }
}

function create(file: string, owner: string): boolean {
  let descriptor: number;
  try {
    descriptor = openSync(file, "wx", 0o600);
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
  try {
    writeSync(descriptor, owner);
  } catch (error) {
    remove(file);
    throw error;
  } finally {
    closeSync(descriptor);
  }
  return true;
}

/**
 * Of several that wait, only one may remove it, after checking it once more; otherwise it could remove the next
 * holder's.
 */
function removeAbandoned(file: string): void {
  const guard = `${file}.takeover`;
  try {
    mkdirSync(guard, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
    if (ageOf(guard) > STALE_MILLISECONDS) remove(guard);
    return;
  }
  try {
    if (isAbandoned(file)) remove(file);
  } finally {
    remove(guard);
  }
}

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true });
}

function isAbandoned(file: string): boolean {
  const [pid, space] = ownerOf(file)?.split(" ") ?? [];
  if (ageOf(file) > STALE_MILLISECONDS) return true;
  return pid !== undefined && space === processSpace() && !isAlive(Number(pid));
}

/**
 * Identifies this process by more than its ID: containers on one machine may share a name, and IDs are reused after a
 * boot.
 */
function processSpace(): string {
  return [
    encodeURIComponent(hostname()),
    read(() => readlinkSync("/proc/self/ns/pid")),
    read(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
  ].join("/");
}

/** Only Linux has these files. */
function read(file: () => string): string {
  try {
    return file();
  } catch {
    return "";
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== "ESRCH";
  }
}

function ownerOf(file: string): string | undefined {
  try {
    const text = readFileSync(file, "utf8");
    return text === "" ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Milliseconds since it was touched; 0 if it has just been removed. */
function ageOf(file: string): number {
  return Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
}

function touch(file: string): void {
  const now = new Date();
  try {
    utimesSync(file, now, now);
  } catch {
    // It is gone, and the task ends soon.
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
