// A receiver that records which events arrived, when, and in which order. Commands are JSON lines on stdin.
import { createServer } from "node:http";
import { createInterface } from "node:readline";

let notes = [];
let target = Infinity;

const report = (line) => process.stdout.write(`${JSON.stringify(line)}\n`);

const server = createServer((request, response) => {
  const at = Number(process.hrtime.bigint() / 1000n);
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    response.writeHead(200).end("ok");
    const [, object, n] = /"id":"(ord_\d+)".*?"n":(\d+)/.exec(Buffer.concat(chunks).toString()) ?? [];
    notes.push([object, Number(n), at]);
    if (notes.length === target) report({ notes });
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => report({ url: `http://127.0.0.1:${server.address().port}` }));

createInterface(process.stdin).on("line", (line) => {
  const order = JSON.parse(line);
  if (order.report) return report({ notes });
  notes = [];
  target = order.target;
  report({ armed: true });
});
