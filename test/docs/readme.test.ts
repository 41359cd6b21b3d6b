import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeProject, startDev } from "../cli/support/dev-project.ts";
import { blocksOf, filesOf } from "./pages.ts";

const README = "../README.md";

it("the tour of README.md forwards an event to its application", async () => {
  const application = filesOf(README).get("receiver.mjs")!;
  const project = await makeProject({ "receiver.mjs": application.replace("3000", "APP_PORT") });
  mkdirSync(join(project.folder, "node_modules"));
  symlinkSync(process.cwd(), join(project.folder, "node_modules/service-cli"));
  const [init, dev, trigger] = blocksOf(README)
    .filter(({ language }) => language === "sh")
    .flatMap(({ text }) => text.trimEnd().split("\n"))
    .filter((line) => /^service (dev|trigger)\b/.test(line))
    .map((line) => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([word, quoted]) => quoted ?? word).slice(1));
  const target = init!.map((word) => word.replace("3000", String(project.appPort)));
  expect(await project.service([...target, "--port", String(project.port)])).toMatchObject({ exitCode: 0 });
  expect(dev).toEqual(["dev"]);
  const running = startDev(project, dev!.slice(1));
  await running.waitFor(/✓ Ready after/);
  expect(await project.service(trigger!)).toMatchObject({ exitCode: 0 });
  await running.waitFor(/^app {6}│ order\.completed evt_\w+$/m);
  running.child.kill("SIGINT");
  // The application handles no signals.
  expect(await running.ended).toBe(130);
});
