import { expect } from "vitest";
import { requestSignInLink } from "../../../../src/platform/admin.ts";
import { type Api, apiOf } from "../../../support/api.ts";
import { Browser, type Visit } from "./browser.ts";
import type { EmbeddedPlatform } from "./embedded-platform.ts";

/** Returns a one-time link that signs the owner in. */
export async function newLink(platform: EmbeddedPlatform): Promise<string> {
  return (await requestSignInLink(platform.database)).sign_in_url;
}

/** Returns true if the page requires a session. */
export function isSignedIn(visit: Visit): boolean {
  return visit.text.includes("Signed in as");
}

/** Returns a browser in which the owner is signed in. */
export async function signedIn(platform: EmbeddedPlatform): Promise<Browser> {
  const browser = new Browser(platform.baseUrl);
  expect(isSignedIn(await browser.get(await newLink(platform)))).toBe(true);
  return browser;
}

/** Returns a function that calls the API with a browser's session, as the dashboard does. */
export function sessionApi(baseUrl: string, browser: Browser, environment = "sandbox"): Api {
  const api = apiOf(baseUrl, undefined);
  return (method, path, body) => {
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    return api(method, path, body, { Cookie: cookie, "Service-Environment": environment, Origin: baseUrl });
  };
}

/** Submits the form for email and password. */
export async function signIn(browser: Browser, email: string, password: string): Promise<Visit> {
  return browser.trySubmit(await browser.get("/sign-in"), { email, password });
}
