import type { OAuthApp } from "../../../contract/schemas/oauth-app.ts";
import type { Column } from "../../terminal/view.ts";
import { CREATED, CREATED_AT, ENVIRONMENT, ID } from "../resource/columns.ts";
import { nounsFor, locationOf, type Resource } from "../resource/resource.ts";
import type { Secret } from "../resource/show-secret.ts";

const NAME: Column<OAuthApp> = { label: "Name", text: ({ name }) => name, shrinks: true };
const CLIENT_ID: Column<OAuthApp> = { label: "Client ID", text: ({ client_id }) => client_id };
const REDIRECTS: Column<OAuthApp> = {
  label: "Redirect URIs",
  text: ({ redirect_uris }) => redirect_uris.join(" "),
  shrinks: true,
};
const KIND: Column<OAuthApp> = {
  label: "Kind",
  text: (app) => (app.public ? "public" : "confidential"),
};

/** Shown once, when it is created. */
export const NEW_SECRET: Secret<OAuthApp> = { label: "client secret", member: "client_secret" };

export const APPS: Resource<OAuthApp> = {
  ...locationOf("oauth_app"),
  view: {
    ...nounsFor("oauth_app"),
    fields: ["id", "object", "name", "client_id", "redirect_uris", "public", "created", "livemode", "client_secret"],
    columns: [ID, NAME, REDIRECTS, { ...KIND, optional: true }, CREATED],
    details: [ID, NAME, CLIENT_ID, REDIRECTS, KIND, ENVIRONMENT, CREATED_AT],
  },
};
