import { useState } from "preact/hooks";
import type { OAuthApp } from "../../contract/schemas/oauth-app.ts";
import { shellCommand } from "../../contract/shell-command.ts";
import { OAUTH_PATHS, oauthScopeName } from "../../contract/scopes.ts";
import { useCall } from "../api/call.ts";
import { usePages } from "../api/pages.ts";
import { useQuery } from "../api/store.ts";
import { DetailPage } from "../components/detail-page.tsx";
import { ConfirmedAction } from "../components/action.tsx";
import { ShownOnce } from "../components/dialog.tsx";
import { Card, Empty, Facts, Page, WithAside } from "../components/page.tsx";
import { PagedTable } from "../components/table.tsx";
import { ClockTime, CopyLine, Id, Time } from "../components/values.tsx";
import { count, counted } from "../format.ts";
import { showToast } from "../components/toasts.tsx";
import { hrefOf, Link, useGo } from "../router.tsx";
import { ScopeTable } from "./api-keys/scopes.tsx";
import { CreateResource, EditResource } from "./resource-form.tsx";
import { listAndPage } from "./list-page.tsx";

export const Apps = listAndPage(AppList, AppDetail);

function AppList() {
  const pages = usePages<OAuthApp>("/v1/oauth_apps", {}, { limit: 100 });
  const [fresh, setFresh] = useState<OAuthApp>();
  return (
    <Page
      title="OAuth apps"
      subtitle={
        <>
          Third-party apps that use the API on behalf of users, with their consent.{" "}
          <a href="/docs/guides/sign-in-with-service.html">How an app signs users in</a>
        </>
      }
      actions={
        <CreateResource<OAuthApp>
          kind="oauth_app"
          label="Register app"
          title="Register an OAuth app"
          onSaved={(app) => {
            setFresh(app);
            pages.reload();
            if (app.public) showToast(`Registered ${app.client_id}`);
          }}
        />
      }
    >
      <PagedTable
        label="OAuth apps, newest first"
        pages={pages}
        empty={
          <Empty icon="apps" title="No apps yet">
            <p>Register an app to send users to /oauth/authorize.</p>
          </Empty>
        }
        columns={[
          {
            label: "Name",
            isLong: true,
            cell: ({ id, name }) => <Link href={hrefOf("apps", id)}>{name}</Link>,
          },
          { label: "Type", cell: ({ public: isPublic }) => (isPublic ? "Public" : "Confidential") },
          { label: "Client ID", from: "desktop", cell: ({ client_id: client }) => <Id id={client} /> },
          {
            label: "Sends users back to",
            from: "tablet",
            isLong: true,
            cell: ({ redirect_uris: [first = "", ...others] }) => (
              <span title={[first, ...others].join("\n")}>
                {first}
                {others.length > 0 && <span class="soft"> and {counted(others.length, "other")}</span>}
              </span>
            ),
          },
          { label: "Users", isNumber: true, cell: ({ authorized_users: users }) => count(users) },
          { label: "Created", from: "tablet", cell: ({ created }) => <Time at={created} /> },
        ]}
      />
      <ClientSecret app={fresh} onClose={() => setFresh(undefined)} />
    </Page>
  );
}

function AppDetail({ id }: { id: string }) {
  const call = useCall();
  const go = useGo();
  const path = `/v1/oauth_apps/${encodeURIComponent(id)}`;
  const query = useQuery<OAuthApp>(path);
  const [fresh, setFresh] = useState<OAuthApp>();
  const { data } = query;
  return (
    <>
      <DetailPage
        page="apps"
        id={id}
        of={query}
        title={data?.name ?? "OAuth app"}
        actions={(app) => (
          <>
            <EditResource kind="oauth_app" item={app} title="Edit app" onSaved={query.reload} />
            {!app.public && (
              <ConfirmedAction
                title="Rotate the client secret?"
                explanation={
                  <p>The old secret stops working at once: the app cannot get tokens until it has the new one.</p>
                }
                verb="Rotate secret"
                run={async () => {
                  setFresh(await call<OAuthApp>("POST", `${path}/rotate_secret`));
                  return undefined;
                }}
              >
                Rotate secret
              </ConfirmedAction>
            )}
            <ConfirmedAction
              class="danger"
              title={`Delete ${app.name}?`}
              explanation={<p>All access that users have granted to {app.name} is revoked.</p>}
              verb="Delete app"
              run={async () => {
                await call("DELETE", path);
                go("apps");
                return `Deleted ${id}`;
              }}
            >
              Delete
            </ConfirmedAction>
          </>
        )}
      >
        {(app) => (
          <>
            <section class="answer object" aria-label="Summary">
              <p dir="auto">{app.name}</p>
              <p class="evidence">
                {app.public
                  ? "A public client, without a secret: for phones, browsers and command lines. "
                  : "A confidential client: it runs on a server, which keeps its secret. "}
                {app.authorized_users === 0
                  ? "No user has authorized it yet."
                  : `${counted(app.authorized_users, "user")} authorized it.`}
              </p>
              <div class="row-actions remedy">
                <a class="button" href={authorizationUrl(app)} target="_blank" rel="noreferrer">
                  Open its consent page
                </a>
              </div>
            </section>
            <WithAside
              aside={
                <Card title="Details">
                  <Facts
                    rows={[
                      ["Client ID", <Id id={app.client_id} />],
                      ["Created", <ClockTime at={app.created} />],
                      [
                        "Redirect URIs",
                        <ul>
                          {app.redirect_uris.map((uri) => (
                            <li key={uri}>{uri}</li>
                          ))}
                        </ul>,
                      ],
                    ]}
                  />
                </Card>
              }
            >
              <Card title="Connect">
                <p class="soft">
                  Authorization code flow with PKCE (S256). OAuth libraries find the URLs through the metadata document.
                  The URL and the command are an example: an app creates a new challenge, verifier and state each time.
                </p>
                <Facts
                  rows={[
                    [
                      "Metadata",
                      <CopyLine text={`${location.origin}${OAUTH_PATHS.metadata}`} what="the metadata URL" />,
                    ],
                    ["Send a user to the consent page", <CopyLine text={authorizationUrl(app)} what="the URL" />],
                    ["Exchange the code for a token", <CopyLine text={exchange(app)} what="the command" />],
                  ]}
                />
              </Card>
              <Card title="Scopes" note="what the app can request, and users allow">
                <p class="soft">
                  The scope <code>customers:read</code> of an API key is <code>{oauthScopeName("customers:read")}</code>{" "}
                  in OAuth.
                </p>
                <ScopeTable cell={(scope) => <code>{oauthScopeName(scope)}</code>} />
              </Card>
            </WithAside>
          </>
        )}
      </DetailPage>
      <ClientSecret app={fresh} onClose={() => setFresh(undefined)} />
    </>
  );
}

/** Returns the URL to which an app sends a user, with an example of a scope. */
function authorizationUrl({ client_id: client, redirect_uris: [redirect = ""] }: OAuthApp): string {
  const query = new URLSearchParams({
    response_type: "code",
    client_id: client,
    redirect_uri: redirect,
    scope: oauthScopeName("customers:read"),
    code_challenge_method: "S256",
    // The example of RFC 7636, with its verifier below; an app creates a new one each time.
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    state: "example",
  });
  return `${location.origin}/oauth/authorize?${query.toString()}`;
}

/** Returns the command that exchanges a code for tokens. */
function exchange({ client_id: client, redirect_uris: [redirect = ""], public: isPublic }: OAuthApp): string {
  const own = [`client_id=${client}`, "--data-urlencode", `redirect_uri=${redirect}`];
  return (
    shellCommand`curl ${location.origin}/oauth/token -d grant_type=authorization_code -d ${own}` +
    ` -d code=$CODE -d code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk${isPublic ? "" : " -d client_secret=$CLIENT_SECRET"}`
  );
}

/** Shows the secret of an app that was registered or got a new one. */
function ClientSecret({ app, onClose }: { app: OAuthApp | undefined; onClose: () => void }) {
  if (typeof app?.client_secret !== "string") return null;
  return (
    <ShownOnce
      title={`The client secret of ${app.name}`}
      secret={app.client_secret}
      what="the client secret"
      onClose={onClose}
    >
      <p>
        Client ID: <code>{app.client_id}</code>
      </p>
    </ShownOnce>
  );
}
