import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { verify } from "../../src/webhooks/index.ts";
import { runInTerminal } from "../support/terminal.ts";
import { blocksOf } from "./pages.ts";

const SECRET = `whsec_${"c".repeat(43)}`;

it("shows what `webhooks check` prints about a receiver that verifies signatures", async () => {
  const receiver = createServer((request, response) => {
    void buffer(request).then((payload) => {
      try {
        verify({ payload, header: request.headers["service-signature"], secrets: [SECRET] });
        response.writeHead(204).end();
      } catch {
        response.writeHead(400).end();
      }
    });
  });
  await once(receiver.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void receiver.close());
  const { port } = receiver.address() as AddressInfo;
  const url = `localhost:${port}/webhooks`;
  const session = runInTerminal(["webhooks", "check", url], { env: { SERVICE_WEBHOOK_SECRET: SECRET } });
  expect(await session.ended).toBe(0);
  const shown = blocksOf("commands.md").find(
    ({ language, note }) => language === "text" && note === "needs a receiver",
  );
  expect(linesOf(session.text())).toEqual(linesOf(shown!.text));
});

/** Returns the lines without what differs each time. */
function linesOf(text: string): string[] {
  return text
    .trim()
    .replaceAll(/\d+(\.\d+)? m?s\b/g, "DURATION")
    .replaceAll(/localhost:\d+/g, "HOST")
    .split(/\r?\n/)
    .map((line) => line.trimEnd());
}
