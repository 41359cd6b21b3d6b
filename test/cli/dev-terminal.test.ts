import { describe, expect, it } from "vitest";
import { CTRL_C, runInTerminal } from "../support/terminal.ts";
import { APP, FILES, makeProject, startInProject } from "./support/dev-project.ts";

describe("the lines of service dev in a terminal of 80 columns", () => {
  it("show a request with its ID, and an event with its response", async () => {
    const project = await makeProject(FILES);
    const dev = runInTerminal(["dev", "--no-ui"], { cwd: project.folder, env: project.env, columns: 80 });
    await dev.waitFor("✓ Ready after");
    const { stdout } = await project.service(["trigger", "order.completed", "-q"]);
    const id = stdout.trim();
    await dev.waitFor(new RegExp(`^listen   │ [\\d:]{8} ← 200 order\\.completed +\\d+(\\.\\d+)? ms ${id}$`, "m"));
    expect(dev.text()).toMatch(
      /^platform │ [\d:]{8} {2}200 {2}POST {3}\/v1\/orders\/ord_\w+\/complete\nplatform │ +req_\w+ {2}[\d.]+ ms$/m,
    );
    expect(dev.text()).not.toMatch(/→ +order/);
    startInProject(project, ["listen"]);
    await dev.waitFor(/^listen   │ [\d:]{8} ! One other session is listening; each receives every event$/m);
    dev.type(CTRL_C);
    expect(await dev.ended).toBe(130);
  });

  it("show an event before its response if that takes long", async () => {
    const slow = APP.replace("response.end();", "setTimeout(() => response.end(), 3000);");
    const project = await makeProject({ ...FILES, "app.js": slow });
    const dev = runInTerminal(["dev", "--no-ui"], { cwd: project.folder, env: project.env, columns: 80 });
    await dev.waitFor("✓ Ready after");
    await project.service(["trigger", "customer.created"]);
    await dev.waitFor(/→ +customer\.created[^]*← 200 customer\.created/);
    dev.type(CTRL_C);
    expect(await dev.ended).toBe(130);
  });
});
