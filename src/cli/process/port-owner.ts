import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const LISTENING = "0A";

/** Returns the process that listens on a port of this machine, such as `node (process 4711)`; undefined if unknown. */
export function portOwner(port: number): string | undefined {
  const sockets = new Set(["/proc/net/tcp", "/proc/net/tcp6"].flatMap((table) => listenersIn(table, port)));
  if (sockets.size === 0) return undefined;
  const pid = entries("/proc").find(
    (name) =>
      /^\d+$/.test(name) && entries(`/proc/${name}/fd`).some((fd) => sockets.has(target(`/proc/${name}/fd/${fd}`))),
  );
  return pid === undefined ? undefined : `${read(`/proc/${pid}/comm`).trim() || "a program"} (process ${pid})`;
}

/** Returns the targets of the links to the sockets that listen on the port. */
function listenersIn(table: string, port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return read(table)
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(suffix) === true && state === LISTENING)
    .map((columns) => `socket:[${columns[9]}]`);
}

// Other systems have no such files, and other users' processes are not readable.
function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function target(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return "";
  }
}
