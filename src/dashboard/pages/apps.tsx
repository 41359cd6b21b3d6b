import { useState } from "preact/hooks";
import type { OAuthApp } from "../../contract/schemas/oauth-app.ts";
import { oauthScopeName, SCOPES } from "../../contract/scopes.ts";
import { useCall } from "../api/call.ts";
import { usePages } from "../api/pages.ts";
import { useQuery } from "../api/store.ts";
import { ConfirmedAction, CreateButton, DialogButton } from "../components/action.tsx";
import { ShownOnce } from "../components/dialog.tsx";
import { Card, Empty, Facts, Loaded, Page } from "../components/page.tsx";
import { PagedTable } from "../components/table.tsx";
import { CopyLine, Id, Time } from "../components/values.tsx";
import { showToast } from "../components/toasts.tsx";
import { hrefOf, Link, route, useGo } from "../router.tsx";
import { ResourceForm } from "./resource-form.tsx";

export function Apps() {
  const { id } = route.value;
  return id === "" ? <AppList /> : <AppDetail id={id} />;
}

function typeOf({ public: isPublic }: OAuthApp): string {
  return isPublic ? "Public" : "Confidential";
}

function AppList() {
  const pages = usePages<OAuthApp>("/v1/oauth_apps", {}, { limit: 100 });
  const [fresh, setFresh] = useState<OAuthApp>();
  return (
    <Page
      title="OAuth apps"
      subtitle="Third-party apps that use the API on behalf of users, with their consent."
      actions={
        <CreateButton
          label="Register app"
          dialog={(close) => (
            <ResourceForm<OAuthApp>
              kind="oauth_app"
              title="Register an OAuth app"
              submit="Register app"
              onClose={close}
              onSaved={(app) => {
                close();
                setFresh(app);
                pages.reload();
                if (app.public) showToast(`Registered ${app.client_id}`);
              }}
            />
          )}
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
            cell: ({ id, name }) => (
              <>
                <Link href={hrefOf("apps", id)}>{name}</Link> <code class="soft">{id}</code>
              </>
            ),
          },
          { label: "Type", cell: typeOf },
          {
            label: "Redirect URIs",
            from: "tablet",
            isLong: true,
            cell: ({ redirect_uris: uris }) => <span title={uris.join("\n")}>{uris.join(", ")}</span>,
          },
          { label: "Created", cell: ({ created }) => <Time at={created} /> },
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
    <Page
      title={data?.name ?? "OAuth app"}
      back={{ href: hrefOf("apps"), label: "OAuth apps" }}
      id={id}
      actions={
        data !== undefined && (
          <>
            <DialogButton
              label="Edit"
              dialog={(close) => (
                <ResourceForm
                  kind="oauth_app"
                  item={data}
                  title="Edit app"
                  onClose={close}
                  onSaved={() => {
                    close();
                    query.reload();
                  }}
                />
              )}
            />
            {!data.public && (
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
              explanation={<p>All access that users have granted to {data.name} is revoked.</p>}
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
        )
      }
    >
      <Loaded of={query}>
        {(app) => (
          <>
            <Facts
              rows={[
                ["Client ID", <Id id={app.client_id} />],
                ["Type", typeOf(app)],
                ["Created", <Time at={app.created} />],
              ]}
            />
            <Card title="Redirect URIs">
              <ul>
                {app.redirect_uris.map((uri) => (
                  <li key={uri}>
                    <code>{uri}</code>
                  </li>
                ))}
              </ul>
            </Card>
            <Card title="Connect">
              <p class="soft">
                Authorization code flow with PKCE (S256), for {app.public ? "a public" : "a confidential"} client. OAuth
                libraries find the URLs through the metadata document.
              </p>
              <Facts
                rows={[
                  ...URLS.map(
                    ([label, end]) => [label, <CopyLine text={location.origin + end} what={label} />] as const,
                  ),
                  ["Example", <CopyLine text={authorizationUrl(app)} what="the example" />],
                ]}
              />
              <p class="soft">
                Scopes have other names in OAuth than in API keys: {SCOPES.map(oauthScopeName).join(", ")}.
              </p>
            </Card>
          </>
        )}
      </Loaded>
      <ClientSecret app={fresh} onClose={() => setFresh(undefined)} />
    </Page>
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
  });
  return `${location.origin}/oauth/authorize?${query.toString()}&code_challenge=CHALLENGE&state=STATE`;
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
