// Receivers of a soak run. The verdicts are based on what they verified.
import { createServer } from "node:http";
import { verify } from "../dist/webhooks/index.js";

/**
 * Responds to deliveries according to its behavior. `accepted` counts the verified ones that got a 2xx by `type id` of
 * their object, `events` has their event IDs; anything else must be sent again. `isOrdered` is for the verdict;
 * `inversions` counts the orders that were completed here before they were created.
 */
export async function startReceiver({ secrets, behavior = () => "accept", isOrdered = false }) {
  const accepted = new Map();
  const events = new Set();
  const rejected = [];
  let inversions = 0;
  const server = createServer((request, response) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("error", () => {});
    request.on("end", () => {
      let event;
      try {
        event = verify({
          payload: Buffer.concat(chunks),
          header: request.headers["service-signature"],
          secrets: secrets(),
        });
      } catch (error) {
        rejected.push(error.code);
        response.writeHead(400).end();
        return;
      }
      respond(event, request, response);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    accepted,
    events,
    rejected,
    isOrdered,
    inversions: () => inversions,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };

  function respond(event, request, response) {
    switch (behavior()) {
      case "fail":
        return void response.writeHead(500).end("out of order");
      case "busy":
        return void response.writeHead(429, { "Retry-After": "45" }).end();
      case "reset":
        return void request.socket.destroy();
      case "hang":
        return;
      default: {
        const { id } = event.data.object;
        const key = `${event.type} ${id}`;
        if (event.type === "order.completed" && !accepted.has(`order.created ${id}`)) inversions += 1;
        events.add(event.id);
        accepted.set(key, (accepted.get(key) ?? 0) + 1);
        response.writeHead(204).end();
      }
    }
  }
}
