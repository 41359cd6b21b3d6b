import { existsSync, readFileSync } from "node:fs";
import type { HostKind } from "../../../relay/forward-failure.ts";

/** Files that tell where a Linux system runs. */
const CONTAINER_MARKS = ["/.dockerenv", "/run/.containerenv"];

export interface SystemFiles {
  exists(path: string): boolean;
  /** Undefined where it cannot be read. */
  read(path: string): string | undefined;
}

const realFiles: SystemFiles = {
  exists: existsSync,
  read(path) {
    try {
      return readFileSync(path, "utf8");
    } catch {
      return undefined;
    }
  },
};

/** What this machine is, as far as it matters to what `localhost` means on it. */
export function hostKind(platform: NodeJS.Platform, files: SystemFiles = realFiles): HostKind {
  if (platform !== "linux") return "plain";
  if (CONTAINER_MARKS.some((mark) => files.exists(mark))) return "container";
  if (/docker|containerd|kubepods/.test(files.read("/proc/1/cgroup") ?? "")) return "container";
  return /microsoft/i.test(files.read("/proc/sys/kernel/osrelease") ?? "") ? "wsl" : "plain";
}
