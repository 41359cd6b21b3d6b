import { useState } from "preact/hooks";
import type { OAuthApp } from "../../contract/schemas/oauth-app.ts";
import { call } from "../api/call.ts";
import { usePages } from "../api/pages.ts";
import { ConfirmedAction, CreateButton } from "../components/action.tsx";
import { Dialog, ShownOnce } from "../components/dialog.tsx";
import { Field, Form } from "../components/form.tsx";
import { Empty, Page } from "../components/page.tsx";
import { PagedTable } from "../components/table.tsx";
import { Id, Time } from "../components/values.tsx";
import { showToast } from "../components/toasts.tsx";

export function Apps() {
  const pages = usePages<OAuthApp>("/v1/oauth_apps", {}, { limit: 100 });
  const [fresh, setFresh] = useState<OAuthApp>();
  const [edited, setEdited] = useState<OAuthApp>();
  return (
    <Page
      title="OAuth apps"
      subtitle="Third-party apps that use the API on behalf of users, with their consent."
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
            cell: ({ name, client_id: client }) => (
              <>
                <strong>{name}</strong>
                <br />
                <Id id={client} />
              </>
            ),
          },
          { label: "Type", from: "tablet", cell: ({ public: isPublic }) => (isPublic ? "Public" : "Confidential") },
          {
            label: "Redirect URIs",
            from: "desktop",
            isLong: true,
            cell: ({ redirect_uris: uris }) => <span title={uris.join("\n")}>{uris.join(", ")}</span>,
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
                      <p>The old secret stops working at once: the app cannot get tokens until it has the new one.</p>
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
                  explanation={<p>All access that users have granted to {app.name} is revoked.</p>}
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
        <ShownOnce
          title={`The client secret of ${fresh.name}`}
          secret={fresh.client_secret}
          what="the client secret"
          onClose={() => setFresh(undefined)}
        >
          <p>
            Client ID: <code>{fresh.client_id}</code>
          </p>
        </ShownOnce>
      )}
    </Page>
  );
}

/** Registers an app, or changes one. */
function AppForm(props: { app?: OAuthApp; onClose: () => void; onSaved: (app: OAuthApp) => void }) {
  const { app } = props;
  const [name, setName] = useState(app?.name ?? "");
  const [redirects, setRedirects] = useState(app?.redirect_uris.join("\n") ?? "");
  const [isPublic, setPublic] = useState(false);
  return (
    <Dialog title={app === undefined ? "Register an OAuth app" : "Edit app"} onClose={props.onClose}>
      <Form
        submit={app === undefined ? "Register app" : "Save"}
        fields={["name", "redirect_uris"]}
        onCancel={props.onClose}
        run={async () => {
          const body = { name, redirect_uris: redirects.split(/\s+/).filter(Boolean) };
          props.onSaved(
            app === undefined
              ? await call<OAuthApp>("POST", "/v1/oauth_apps", { ...body, public: isPublic })
              : await call<OAuthApp>("PATCH", `/v1/oauth_apps/${app.id}`, body),
          );
        }}
      >
        {(error) => (
          <>
            <Field
              label="Name"
              name="name"
              value={name}
              onInput={setName}
              error={error}
              required
              hint="Shown to users on the consent page"
            />
            <Field
              label="Redirect URIs"
              name="redirect_uris"
              isLong
              value={redirects}
              onInput={setRedirects}
              error={error}
              hint="One per line: https, or http to a loopback address"
              placeholder="https://app.example.com/callback"
            />
            {app === undefined && (
              <label class="check">
                <input type="checkbox" checked={isPublic} onChange={() => setPublic(!isPublic)} /> Public client, such
                as a mobile app: no client secret
              </label>
            )}
          </>
        )}
      </Form>
    </Dialog>
  );
}
