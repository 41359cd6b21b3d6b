import { useState } from "preact/hooks";
import type { OAuthApp } from "../../contract/schemas/oauth-app.ts";
import { shellCommand } from "../../contract/shell-command.ts";
import { oauthScopeName, permissionsOf, SCOPES } from "../../contract/scopes.ts";
import { useCall } from "../api/call.ts";
import { usePages } from "../api/pages.ts";
import { useQuery } from "../api/store.ts";
import { DetailPage } from "../components/detail-page.tsx";
import { ConfirmedAction } from "../components/action.tsx";
import { ShownOnce } from "../components/dialog.tsx";
import { Card, Empty, Facts, Page, WithAside } from "../components/page.tsx";
import { PagedTable, Table } from "../components/table.tsx";
import { ClockTime, CopyLine, Id, Time } from "../components/values.tsx";
import { count, counted } from "../format.ts";
import { showToast } from "../components/toasts.tsx";
import { hrefOf, Link, useGo } from "../router.tsx";
import { CreateResource, EditResource } from "./resource-form.tsx";
import { listAndPage } from "./list-page.tsx";

export const Apps = listAndPage(AppList, AppDetail);

function typeOf({ public: isPublic }: OAuthApp): string {
  return isPublic ? "Public" : "Confidential";
}

function AppList() {
  const pages = usePages<OAuthApp>("/v1/oauth_apps", {}, { limit: 100 });
  const [fresh, setFresh] = useState<OAuthApp>();
  const app = pages.items?.[0];
  return (
    <Page
      title="OAuth apps"
      subtitle="Third-party apps that use the API on behalf of users, with their consent."
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
          { label: "Client", cell: typeOf },
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
      <Card title="How an app gets access">
        <ol class="steps down">
          <li>
            <h3>Register it</h3>
            <p class="soft">It gets a client ID; one that runs on a server gets a secret, too.</p>
          </li>
          <li>
            <h3>Send a user to the consent page</h3>
            <p class="soft">They see what the app can do, and allow or deny it.</p>
            {app !== undefined && <p class="soft">For {app.name}, with an example of a scope:</p>}
            <CopyLine
              text={app === undefined ? `${location.origin}/oauth/authorize` : authorizationUrl(app)}
              what="the URL"
            />
          </li>
          <li>
            <h3>Exchange the code for a token</h3>
            <p class="soft">With PKCE. The token works until the user revokes it, under Team & access.</p>
            <CopyLine text={app === undefined ? `${location.origin}/oauth/token` : exchange(app)} what="the command" />
          </li>
        </ol>
      </Card>
      <Card title="Scopes" note="what an app can request, and users allow">
        <Scopes />
      </Card>
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
              title="Delete this app?"
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
            <section class="answer" aria-label="Summary">
              <p dir="auto">
                {app.authorized_users === 0
                  ? `No user has authorized ${app.name} yet.`
                  : `${counted(app.authorized_users, "user")} authorized ${app.name}.`}
              </p>
              <p class="evidence">
                {app.public
                  ? "A public client, without a secret: for phones, browsers and command lines."
                  : "A confidential client: it runs on a server, which keeps its secret."}
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
                  Authorization code flow with PKCE (S256), for {app.public ? "a public" : "a confidential"} client.
                  OAuth libraries find the URLs through the metadata document.
                </p>
                <Facts
                  rows={[
                    ...URLS.map(
                      ([label, end]) => [label, <CopyLine text={location.origin + end} what={label} />] as const,
                    ),
                    ["Example", <CopyLine text={authorizationUrl(app)} what="the example" />],
                  ]}
                />
              </Card>
              <Card title="Scopes" note="what the app can request, and users allow">
                <Scopes />
              </Card>
            </WithAside>
          </>
        )}
      </DetailPage>
      <ClientSecret app={fresh} onClose={() => setFresh(undefined)} />
    </>
  );
}

/** What each scope permits, by its name in OAuth, which is another one than in API keys. */
function Scopes() {
  return (
    <>
      <p class="soft">
        The scope <code>customers:read</code> of an API key is <code>{oauthScopeName("customers:read")}</code> in OAuth.
      </p>
      <Table
        label="Scopes"
        items={permissionsOf(SCOPES)}
        keyOf={({ words }) => words}
        columns={[
          {
            label: "Permission",
            isLong: true,
            cell: ({ words }) => words.replace(/^./, (letter) => letter.toUpperCase()),
          },
          {
            label: "Scopes",
            isLong: true,
            cell: ({ scopes }) => <code>{scopes.map(oauthScopeName).join(" ")}</code>,
          },
        ]}
      />
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
    // The example of RFC 7636; an app creates a new one each time.
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
    ` -d code=$CODE -d code_verifier=$VERIFIER${isPublic ? "" : " -d client_secret=$CLIENT_SECRET"}`
  );
}

const URLS = [
  ["Metadata", "/.well-known/oauth-authorization-server"],
  ["Authorization", "/oauth/authorize"],
  ["Token", "/oauth/token"],
] as const;

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
