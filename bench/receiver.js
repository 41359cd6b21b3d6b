// A receiver that only responds. Prints its address, then a line for each time requested on stdin.
import { createServer } from "node:http";
import { createInterface } from "node:readline";

let received = 0;
let target = Infinity;
let start = 0n;

const server = createServer((request, response) => {
  if (received === 0) start = process.hrtime.bigint();
  request.resume();
  request.on("end", () => {
    response.writeHead(204).end();
    received += 1;
    if (received === target) {
      const seconds = Number(process.hrtime.bigint() - start) / 1e9;
      process.stdout.write(`${JSON.stringify({ received, seconds })}\n`);
    }
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}/` })}\n`);
});

createInterface(process.stdin).on("line", (line) => {
  ({ target } = JSON.parse(line));
  received = 0;
});
