import { unwatchFile, watchFile } from "node:fs";
import { join } from "node:path";
import type { Context } from "../../context.ts";
import { printable } from "../../terminal/printable.ts";
import { PROJECT_FILE } from "../../project/file.ts";
import { parseProject, ProjectFileError, readText } from "../../project/read.ts";
import type { Project } from "../../project/schema.ts";
import { assertReceiversTrusted } from "../../project/remote-receivers.ts";

/** Polling also detects a file that an editor replaces, or one on a network drive or in a container. */
const INTERVAL_MS = 250;

interface WatchOptions {
  /** The current content of the file. */
  text: string;
  project: Project;
  context: Context;
  signal: AbortSignal;
  /** Restarts the listener with these settings. */
  restart: (project: Project) => void;
  /** Receives the error of reading the file. */
  onFailure: (error: unknown) => void;
}

/** Restarts the listener when its settings in the project file change. With an invalid file, the old settings stay. */
export function watchProject({ text, project, context, signal, restart, onFailure }: WatchOptions): void {
  const { output } = context;
  let currentText = text;
  let running = project;

  function apply(): void {
    const read = readChanged();
    if (read === undefined) return;
    const isSame = (key: keyof Project) => JSON.stringify(read[key]) === JSON.stringify(running[key]);
    const others = (["platform", "env", "seed", "run"] as const).filter((key) => !isSame(key));
    if (others.length > 0) {
      output.warn(`${PROJECT_FILE}: restart \`service dev\` to apply the new ${others.join(", ")}.`);
    }
    if (isSame("forward")) return;
    if (!output.json) output.line(`${PROJECT_FILE} has changed; restarting the listener`);
    running = { ...running, ...(read.forward === undefined ? { forward: {} } : { forward: read.forward }) };
    restart(running);
  }

  /** Returns undefined if nothing has changed, or, after a warning, if the new content is invalid. */
  function readChanged(): Project | undefined {
    try {
      const now = readText(context.cwd);
      if (now === currentText) return undefined;
      if (now === undefined) throw new ProjectFileError(`${PROJECT_FILE} was deleted`, "");
      currentText = now;
      const read = parseProject(now, context.cwd);
      if (read === undefined) throw new ProjectFileError(`${PROJECT_FILE} is a Kubernetes manifest`, "");
      assertReceiversTrusted(read, context);
      return read;
    } catch (error) {
      if (!(error instanceof ProjectFileError)) throw error;
      output.warn(`${error.message}; the listener continues with the old settings.`);
      for (const line of (error.hint ?? "").split("\n").filter(Boolean)) context.stderr.write(`${printable(line)}\n`);
      return undefined;
    }
  }

  const file = join(context.cwd, PROJECT_FILE);
  const onChange = (): void => {
    try {
      apply();
    } catch (error) {
      onFailure(error);
    }
  };
  watchFile(file, { interval: INTERVAL_MS }, onChange);
  // A change before the first poll has no event.
  const once = setTimeout(onChange, INTERVAL_MS);
  const stop = (): void => {
    unwatchFile(file, onChange);
    clearTimeout(once);
  };
  signal.addEventListener("abort", stop, { once: true });
}
