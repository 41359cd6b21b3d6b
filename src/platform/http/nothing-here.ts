import { nearest } from "../../contract/nearest.ts";
import { ApiError } from "../domain/api-error.ts";

/** A path that is served, with a method. */
export interface Route {
  method: string;
  /** As Fastify writes it: `/v1/customers/:id`. */
  path: string;
}

/** 405 where the path exists with other methods, else 404 naming the nearest path. */
export function nothingHere(routes: readonly Route[], method: string, url: string): ApiError {
  const path = url.split("?", 1)[0]!;
  const matching = routes.filter((route) => pathPattern(route.path).test(path));
  if (matching.length > 0) {
    const allow = [...new Set(matching.map((route) => route.method))].join(", ");
    return new ApiError("method_not_allowed", `${method} is not possible here. Allowed: ${allow}.`, {
      headers: { Allow: allow },
    });
  }
  const [guess] = nearest(path, [...new Set(routes.map((route) => route.path.replace(PATH_PARAMETER, "{$1}")))]);
  const help = guess === undefined ? " /docs lists them all." : ` Did you mean ${guess}?`;
  return new ApiError("not_found", `No operation has the path ${path.slice(0, 200)}.${help}`);
}

const PATH_PARAMETER = /:(\w+)/;

function pathPattern(path: string): RegExp {
  return new RegExp(`^${path.replace(PATH_PARAMETER, "[^/]+")}$`);
}
