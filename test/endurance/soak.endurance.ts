import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

const RUN = fileURLToPath(new URL("../../soak/run.js", import.meta.url));

it.each(["sqlite", "postgres"])(
  "loses nothing and keeps nothing open after four minutes of load and kills on %s",
  { timeout: 900_000 },
  async (database) => {
    const soak = spawn(process.execPath, [RUN, "--database", database, "--minutes", "4", "--seed", "7"]);
    const [report, progress, [code]] = await Promise.all([text(soak.stdout), text(soak.stderr), once(soak, "exit")]);
    expect(code, `${progress}\n${report}`).toBe(0);
  },
);
