import type { FastifyInstance } from "fastify";
import { ERRORS, type ErrorCode } from "../../contract/errors.ts";
import { PROBLEMS_PATH } from "../http/problem.ts";
import { sendPage } from "../pages/page.ts";
import type { Services } from "../services.ts";
import { referenceRoutes } from "./reference-routes.ts";
import { problemIndexPage, problemPage, unknownProblemPage } from "./problem-views.ts";

/** What people read: a page for every error code, and the API reference where its built files are given. */
export function registerDocs(app: FastifyInstance, services: Services, reference: string | undefined): void {
  if (reference !== undefined) referenceRoutes(app, reference);
  app.get(PROBLEMS_PATH, async (_request, reply) => sendPage(reply, 200, problemIndexPage()));
  app.get<{ Params: { code: string } }>(`${PROBLEMS_PATH}/:code`, async ({ params: { code } }, reply) =>
    Object.hasOwn(ERRORS, code)
      ? sendPage(reply, 200, problemPage(code as ErrorCode, services.baseUrl))
      : sendPage(reply, 404, unknownProblemPage()),
  );
}
