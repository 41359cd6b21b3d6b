import type { FastifyInstance } from "fastify";
import type { Metrics } from "../observability/metrics.ts";
import type { Database } from "../storage/database.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** True for probes and scrapes, which are too frequent to log. */
    quiet?: boolean;
  }
}

/** Serves health checks and metrics, without a credential. */
export function registerHealth(
  app: FastifyInstance,
  database: Database,
  { metrics, isStopping }: { metrics: Metrics; isStopping: () => boolean },
): void {
  const config = { quiet: true };
  app.get("/healthz", { config }, async () => ({ status: "ok" }));
  app.get("/readyz", { config }, async (_request, reply) => {
    if (isStopping()) return reply.code(503).send({ status: "stopping" });
    try {
      await database.probe();
      return { status: "ready" };
    } catch {
      return reply.code(503).send({ status: "the database does not respond" });
    }
  });
  app.get("/metrics", { config }, async (_request, reply) => {
    return reply.header("Content-Type", metrics.contentType).send(await metrics.text());
  });
  app.addHook("onResponse", (request, reply, done) => {
    const { config, url = "unknown" } = request.routeOptions;
    if (config.quiet !== true) metrics.observeRequest(request.method, url, reply.statusCode, reply.elapsedTime / 1000);
    done();
  });
}
