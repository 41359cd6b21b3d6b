// A receiver that can hold its responses. Prints its address, then reads commands from stdin: hold, or release and time
// this many requests from the first of them.
import { createServer } from "node:http";
import { createInterface } from "node:readline";

let holding = false;
let held = [];
let received = 0;
let target = Infinity;
let start = 0n;

function respond(response) {
  if (received === 0) start = process.hrtime.bigint();
  response.writeHead(204).end();
  received += 1;
  if (received !== target) return;
  process.stdout.write(`${JSON.stringify({ seconds: Number(process.hrtime.bigint() - start) / 1e9 })}\n`);
}

const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    if (holding) held.push(response);
    else respond(response);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}/` })}\n`);
});

createInterface(process.stdin).on("line", (line) => {
  const order = JSON.parse(line);
  holding = order.hold === true;
  if (holding) return;
  received = 0;
  target = order.target;
  for (const response of held.splice(0)) respond(response);
});
