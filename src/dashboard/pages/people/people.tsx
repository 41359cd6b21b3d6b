import { useState } from "preact/hooks";
import type { ApiKey } from "../../../contract/schemas/api-key.ts";
import type { DeletedUser, User } from "../../../contract/schemas/account.ts";
import { call } from "../../api/call.ts";
import type { Pages } from "../../api/use-query.ts";
import { ConfirmedAction } from "../../components/action.tsx";
import { CreateButton } from "../../components/create-button.tsx";
import { CopyLine } from "../../components/copy.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Field, Form } from "../../components/form.tsx";
import { Card } from "../../components/page.tsx";
import { PagedTable } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { hrefOf, Link } from "../../router.tsx";

/** The people of the account; owners invite and remove members. */
export function People({ users, isOwner }: { users: Pages<User>; isOwner: boolean }) {
  const [invited, setInvited] = useState<User>();
  const [left, setLeft] = useState<{ email: string; keys: readonly ApiKey[] }>();
  return (
    <Card
      title="People of the account"
      actions={
        isOwner && (
          <CreateButton
            label="Invite"
            dialog={(close) => (
              <Invite
                onClose={close}
                onInvited={(user) => {
                  close();
                  setInvited(user);
                  users.reload();
                }}
              />
            )}
          />
        )
      }
    >
      <PagedTable
        label="People of the account"
        pages={users}
        empty={null}
        columns={[
          {
            label: "Email",
            cell: ({ email, is_you: isYou }) => (
              <>
                {email} {isYou && <span class="badge good">you</span>}
              </>
            ),
          },
          { label: "Role", cell: ({ role }) => role },
          {
            label: "Password",
            from: "tablet",
            cell: ({ has_password: has, is_you: isYou }) => (
              <>
                {has ? "set" : "not set yet"} {isYou && <a href="/account">{has ? "Change" : "Set"}</a>}
              </>
            ),
          },
          { label: "Since", from: "tablet", cell: ({ created }) => <Time at={created} /> },
          {
            label: "Actions",
            isFor: ({ role }) => isOwner && role === "member",
            cell: ({ id, email }) => (
              <ConfirmedAction
                class="small danger"
                title="Remove this person?"
                explanation={
                  <p>
                    {email} is signed out everywhere, and the apps that act for them lose access. API keys that they
                    created stay valid; you get a list of them.
                  </p>
                }
                verb="Remove"
                run={async () => {
                  const { api_keys: keys } = await call<DeletedUser>("DELETE", `/v1/users/${id}`);
                  users.reload();
                  if (keys.data.length > 0) setLeft({ email, keys: keys.data });
                  return `Removed ${email}`;
                }}
              >
                Remove
              </ConfirmedAction>
            ),
          },
        ]}
      />
      {left !== undefined && (
        <Dialog title="API keys that still work" onClose={() => setLeft(undefined)}>
          <p>{left.email} created these keys. Revoke those that nobody else needs.</p>
          <ul>
            {left.keys.map(({ id, name, livemode }) => (
              <li key={id}>
                <strong>{name ?? "Unnamed"}</strong> <code class="soft">{id}</code>{" "}
                <Link href={hrefOf("keys", "", {}, livemode ? "live" : "sandbox")}>
                  {livemode ? "Live keys" : "Sandbox keys"}
                </Link>
              </li>
            ))}
          </ul>
          <div class="buttons">
            <button type="button" class="primary" onClick={() => setLeft(undefined)}>
              Done
            </button>
          </div>
        </Dialog>
      )}
      {invited?.invitation_url !== undefined && (
        <Dialog title="The invitation" onClose={() => setInvited(undefined)}>
          <p>Send this link to {invited.email}. It works once, for three days, and is not shown again.</p>
          <CopyLine text={invited.invitation_url} what="the invitation link" />
          <div class="buttons">
            <button type="button" class="primary" onClick={() => setInvited(undefined)}>
              Done
            </button>
          </div>
        </Dialog>
      )}
    </Card>
  );
}

function Invite({ onClose, onInvited }: { onClose: () => void; onInvited: (user: User) => void }) {
  const [email, setEmail] = useState("");
  return (
    <Dialog title="Invite somebody" onClose={onClose}>
      <Form
        submit="Make an invitation"
        fields={["email"]}
        onCancel={onClose}
        run={async () => onInvited(await call<User>("POST", "/v1/users", { email }))}
      >
        {(error) => <Field label="Email" name="email" value={email} onInput={setEmail} error={error} required />}
      </Form>
    </Dialog>
  );
}
