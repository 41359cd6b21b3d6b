import { expect, it } from "vitest";
import { ProcessGroup } from "../../src/cli/process/process-group.ts";

it("a process group stops a process on Windows through its IPC channel, because signals are missing there", async () => {
  const script = `process.once("disconnect", () => { console.log("stopped"); process.exit(3); }); process.send("ready")`;
  const group = new ProcessGroup(process.execPath, ["-e", script], {
    platform: "win32",
    stdio: ["ignore", "pipe", "inherit", "ipc"],
  });
  let output = "";
  group.child.stdout!.on("data", (text) => (output += String(text)));
  await new Promise((resolve) => group.child.once("message", resolve));
  expect(await group.stop("SIGTERM", 60_000)).toBe(false);
  expect({ output, ...(await group.exited) }).toEqual({ output: "stopped\n", code: 3, signal: null });
});
