import { useState } from "preact/hooks";
import type { OAuthApp } from "../../../contract/schemas/oauth-app.ts";
import { call } from "../../api/call.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Field, Form } from "../../components/form.tsx";

/** Registers an app, or changes one. */
export function AppForm(props: { app?: OAuthApp; onClose: () => void; onSaved: (app: OAuthApp) => void }) {
  const { app } = props;
  const [name, setName] = useState(app?.name ?? "");
  const [redirects, setRedirects] = useState(app?.redirect_uris.join("\n") ?? "");
  const [isPublic, setPublic] = useState(false);
  return (
    <Dialog title={app === undefined ? "Register an OAuth app" : "Edit the app"} onClose={props.onClose}>
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
              hint="People see it when they are asked for consent"
            />
            <Field
              label="Redirect URIs"
              name="redirect_uris"
              isLong
              value={redirects}
              onInput={setRedirects}
              error={error}
              hint="One a line: https, or http to this machine"
              placeholder="https://app.example.com/callback"
            />
            {app === undefined && (
              <label class="check">
                <input type="checkbox" checked={isPublic} onChange={() => setPublic(!isPublic)} /> Public: it runs where
                a secret cannot be kept, so it gets none
              </label>
            )}
          </>
        )}
      </Form>
    </Dialog>
  );
}
