import { useState } from "preact/hooks";
import type { OAuthApp } from "../../../contract/schemas/oauth-app.ts";
import { call } from "../../api/call.ts";
import { usePages } from "../../api/use-query.ts";
import { ConfirmedAction } from "../../components/action.tsx";
import { CreateButton } from "../../components/create-button.tsx";
import { Page } from "../../components/page.tsx";
import { SecretOnce } from "../../components/secret-once.tsx";
import { Empty } from "../../components/states.tsx";
import { PagedTable } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { say } from "../../components/toasts.tsx";
import { AppForm } from "./app-form.tsx";

export function Apps() {
  const pages = usePages<OAuthApp>("/v1/oauth_apps", {}, { limit: 100 });
  const [fresh, setFresh] = useState<OAuthApp>();
  const [edited, setEdited] = useState<OAuthApp>();
  return (
    <Page
      title="OAuth apps"
      subtitle="Third-party apps that act for people of other accounts, with their consent."
      actions={
        <CreateButton
          label="Register app"
          dialog={(close) => (
            <AppForm
              onClose={close}
              onSaved={(app) => {
                close();
                setFresh(app);
                pages.reload();
                if (app.public) say(`Registered ${app.client_id}`);
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
          <Empty title="No apps yet.">
            <p>Register one to send people to /oauth/authorize in its name.</p>
          </Empty>
        }
        columns={[
          {
            label: "Name",
            cell: ({ name, client_id: client }) => (
              <>
                <strong>{name}</strong>
                <br />
                <code class="soft">{client}</code>
              </>
            ),
          },
          { label: "Kind", from: "tablet", cell: ({ public: isPublic }) => (isPublic ? "public" : "confidential") },
          {
            label: "Redirects to",
            from: "desktop",
            cell: ({ redirect_uris: uris }) => <span class="long">{uris.join(", ")}</span>,
          },
          { label: "Created", from: "tablet", cell: ({ created }) => <Time at={created} /> },
          {
            label: "Actions",
            cell: (app) => (
              <span class="row-actions">
                <button type="button" class="small" onClick={() => setEdited(app)}>
                  Edit
                </button>
                {!app.public && (
                  <ConfirmedAction
                    class="small"
                    title="Rotate the client secret?"
                    explanation={
                      <p>The old secret ends at once: the app cannot get tokens until it has the new one.</p>
                    }
                    verb="Rotate secret"
                    run={async () => {
                      setFresh(await call<OAuthApp>("POST", `/v1/oauth_apps/${app.id}/rotate_secret`));
                      return undefined;
                    }}
                  >
                    Rotate secret
                  </ConfirmedAction>
                )}
                <ConfirmedAction
                  class="small danger"
                  title="Delete this app?"
                  explanation={<p>Everything that people allowed {app.name} ends with it.</p>}
                  verb="Delete app"
                  run={async () => {
                    await call("DELETE", `/v1/oauth_apps/${app.id}`);
                    pages.reload();
                    return `Deleted ${app.client_id}`;
                  }}
                >
                  Delete
                </ConfirmedAction>
              </span>
            ),
          },
        ]}
      />
      {edited !== undefined && (
        <AppForm
          app={edited}
          onClose={() => setEdited(undefined)}
          onSaved={() => {
            setEdited(undefined);
            pages.reload();
          }}
        />
      )}
      {typeof fresh?.client_secret === "string" && (
        <SecretOnce
          title={`The client secret of ${fresh.name}`}
          secret={fresh.client_secret}
          what="the client secret"
          onClose={() => setFresh(undefined)}
        >
          <p>
            Its client id is <code>{fresh.client_id}</code>.
          </p>
        </SecretOnce>
      )}
    </Page>
  );
}
