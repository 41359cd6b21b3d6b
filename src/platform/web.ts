import fastifyCookie from "@fastify/cookie";
import type { FastifyInstance } from "fastify";
import { loadAssets } from "./dashboard/assets.ts";
import { dashboardRoutes } from "./dashboard/routes.ts";
import { Passwords } from "./domain/passwords.ts";
import { logFailure } from "./http/answers.ts";
import { INTERNAL_ERROR, toApiError } from "./http/problem.ts";
import { authorizeRoutes } from "./oauth/authorize-routes.ts";
import { deviceRoutes } from "./oauth/device-routes.ts";
import { tokenRoutes } from "./oauth/token-routes.ts";
import { errorPage, PageError, sendPage } from "./pages/page.ts";
import { ParameterError } from "./pages/parameters.ts";
import { takeForms } from "./pages/take-forms.ts";
import type { Services } from "./services.ts";
import type { PlatformSettings } from "./settings.ts";
import { accountRoutes } from "./sign-in/account-routes.ts";
import { linkRoutes } from "./sign-in/link-routes.ts";
import { signInRoutes } from "./sign-in/sign-in-routes.ts";
import { Visitors } from "./sign-in/visitors.ts";

type WebSettings = Pick<PlatformSettings, "dashboard" | "passwordCost">;

/** Adds what browsers and OAuth clients see: pages that speak HTML, and endpoints that speak OAuth's JSON. */
export function registerWeb(app: FastifyInstance, services: Services, { dashboard, passwordCost }: WebSettings): void {
  app.register(async (scope) => {
    await scope.register(fastifyCookie);
    takeForms(scope);
    scope.setErrorHandler((error, request, reply) => {
      const shown = asPageError(error);
      if (shown.status === 500) logFailure(services, error, request);
      return sendPage(reply.headers(shown.headers), shown.status, errorPage(shown));
    });
    const visitors = new Visitors(services);
    const tools = { services, visitors, passwords: new Passwords(services.random, passwordCost) };
    signInRoutes(scope, tools);
    linkRoutes(scope, tools);
    accountRoutes(scope, tools);
    const assets = dashboard === undefined ? undefined : loadAssets(dashboard);
    dashboardRoutes(scope, visitors, assets);
    authorizeRoutes(scope, services, visitors);
    deviceRoutes(scope, services, visitors);
  });
  app.register(async (scope) => tokenRoutes(scope, services));
}

function asPageError(error: unknown): PageError {
  if (error instanceof PageError) return error;
  if (error instanceof ParameterError) return new PageError(400, "The request cannot be read", error.message);
  const { status, message, headers } = toApiError(error) ?? INTERNAL_ERROR;
  return new PageError(status, status < 500 ? "The request was refused" : "Something went wrong", message, headers);
}
