import type { RequestListener } from "node:http";
import Fastify from "fastify";
import { Hono } from "hono";
import { Stripe } from "stripe";
import { expressWebhook, fastifyWebhook, fetchWebhook, honoWebhook, nodeWebhook } from "../../../src/webhooks/index.ts";
import { express } from "../../webhooks/express-app.ts";
import { listenerOf } from "../../webhooks/fetch-listener.ts";
import type { Work } from "./application.ts";
import { readBody } from "./read-body.ts";

type Receiver = (work: Work, secrets: readonly string[]) => RequestListener | Promise<RequestListener>;

/** Receivers built with this package's library. */
export const CORRECT: Readonly<Record<string, Receiver>> = {
  "node:http": (work, secrets) =>
    nodeWebhook({ secrets }, ({ id }, _request, response) => {
      work.once(id);
      response.writeHead(204).end();
    }),
  Express: (work, secrets) =>
    express().post(
      "/webhooks",
      expressWebhook({ secrets }, ({ id }, _request, response) => {
        work.once(id);
        response.writeHead(204).end();
      }),
    ),
  Fastify: async (work, secrets) => {
    const app = Fastify();
    const plugin = fastifyWebhook({ secrets }, ({ id }, _request, reply) => {
      work.once(id);
      return reply.code(204).send();
    });
    app.register(plugin, { prefix: "/webhooks" });
    await app.ready();
    return (request, response) => app.routing(request, response);
  },
  Hono: (work, secrets) => {
    const app = new Hono();
    app.post(
      "/webhooks",
      honoWebhook({ secrets }, ({ id }, context) => {
        work.once(id);
        return context.body(null, 204);
      }),
    );
    return listenerOf((request) => app.fetch(request));
  },
  Fetch: (work, secrets) =>
    listenerOf(
      fetchWebhook({ secrets }, ({ id }) => {
        work.once(id);
        return new Response(null, { status: 204 });
      }),
    ),
};

/** A verifier for another platform with the same scheme, which rejects old timestamps only. */
export const stripeReceiver: Receiver = (work, secrets) => {
  const stripe = new Stripe("sk_test_unused");
  const verify = (body: Buffer, header: string): { id: string } => {
    for (const secret of secrets.slice(0, -1)) {
      try {
        return stripe.webhooks.constructEvent(body, header, secret);
      } catch {
        continue;
      }
    }
    return stripe.webhooks.constructEvent(body, header, secrets.at(-1)!);
  };
  return (request, response) =>
    void readBody(request).then((body) => {
      try {
        work.once(verify(body, String(request.headers["service-signature"])).id);
        response.writeHead(204).end();
      } catch (error) {
        response.writeHead(400).end((error as Error).message);
      }
    });
};
