import { useState } from "preact/hooks";
import type { DeletedUser, OAuthGrant, Session, User } from "../../contract/schemas/account.ts";
import type { ApiKey } from "../../contract/schemas/api-key.ts";
import { permissionsInWords } from "../../contract/scopes.ts";
import { useCall } from "../api/call.ts";
import { type Pages, usePages, WHOLE } from "../api/pages.ts";
import { Action, ConfirmedAction, CreateButton } from "../components/action.tsx";
import { Dialog, ShownOnce } from "../components/dialog.tsx";
import { Field, Form } from "../components/form.tsx";
import { Below, Card, Empty, Page } from "../components/page.tsx";
import { PagedTable } from "../components/table.tsx";
import { ClockTime, CommandLine, None, ObjectLink, Time, Until } from "../components/values.tsx";
import { browserName, counted } from "../format.ts";
import { hrefOf, Link } from "../router.tsx";

export function useUsers(): readonly User[] {
  return usePages<User>("/v1/users", {}, { limit: WHOLE }).items ?? [];
}

/** Shows the user's email address; the ID of a removed user or of a key. */
export function UserEmail({ id, users }: { id: string | null; users: readonly User[] }) {
  if (id === null) return <None />;
  return <>{users.find((user) => user.id === id)?.email ?? <ObjectLink id={id} />}</>;
}

export function TeamPage() {
  const call = useCall();
  const sessions = usePages<Session>("/v1/sessions", {}, { limit: WHOLE });
  const grants = usePages<OAuthGrant>("/v1/oauth_grants", {}, { limit: WHOLE });
  const users = usePages<User>("/v1/users", {}, { limit: WHOLE });
  const others = sessions.items?.filter(({ is_current: isCurrent }) => !isCurrent) ?? [];
  const you = users.items?.find(({ is_you: isYou }) => isYou);
  return (
    <Page title="Team & access" subtitle="Users of this account, your browsers, and the apps that act for you.">
      <Below
        isReady={[sessions, grants, users].every(({ items, error }) => items !== undefined || error !== undefined)}
      >
        {you?.has_password === false && (
          <p class="notice">
            <strong>You have no password yet.</strong> Until you set one, you can sign in only with a one-time sign-in
            link. <a href="/account">Set a password</a>
          </p>
        )}
        <Team users={users} isOwner={you?.role === "owner"} />
        <Card
          title="Your sessions"
          actions={
            others.length > 1 && (
              <ConfirmedAction
                class="small"
                title="Sign out all other sessions?"
                explanation={<p>{counted(others.length, "browser")} must sign in again. This one stays signed in.</p>}
                verb="Sign out others"
                run={async () => {
                  for (const { id } of others) await call("DELETE", `/v1/sessions/${id}`);
                  sessions.reload();
                  return `Ended ${counted(others.length, "session")}`;
                }}
              >
                Sign out all others
              </ConfirmedAction>
            )
          }
        >
          <PagedTable
            label="Your sessions"
            pages={sessions}
            empty={<Empty title="No other sessions" />}
            columns={[
              {
                label: "Browser",
                isLong: true,
                cell: ({ user_agent: agent, is_current: isCurrent }) => (
                  <>
                    {browserName(agent)} {isCurrent && <span class="tag">current</span>}
                  </>
                ),
              },
              {
                label: "Signed in with",
                from: "tablet",
                cell: ({ by_link: byLink }) => (byLink ? "One-time link" : "Password"),
              },
              { label: "From", from: "tablet", cell: ({ client_address: address }) => address ?? <None /> },
              { label: "Signed in", from: "tablet", cell: ({ created }) => <Time at={created} isReal /> },
              {
                label: "Last active",
                cell: ({ last_used: at, is_current: isCurrent }) => (isCurrent ? "Now" : <Time at={at} isReal />),
              },
              { label: "Expires", from: "tablet", cell: ({ expires_at: at }) => <Until at={at} isReal /> },
              {
                label: "Actions",
                isFor: ({ is_current: isCurrent }) => !isCurrent,
                cell: ({ id }) => (
                  <Action
                    class="small"
                    run={async () => {
                      await call("DELETE", `/v1/sessions/${id}`);
                      sessions.reload();
                      return "Session ended";
                    }}
                  >
                    Sign out
                  </Action>
                ),
              },
            ]}
          />
        </Card>
        <Card title="Authorized apps">
          <PagedTable
            label="Authorized apps"
            pages={grants}
            empty={
              <Empty icon="apps" title="No authorized apps">
                <p>Apps that you allow to act for you are listed here. Sign in with the CLI to see it:</p>
                <CommandLine text={`service login --base-url ${location.origin}`} />
              </Empty>
            }
            columns={[
              { label: "App", isLong: true, cell: ({ app_name: name }) => <bdi>{name}</bdi> },
              { label: "Environment", cell: (grant) => <span class="role">{grant.environment}</span> },
              {
                label: "Permissions",
                from: "tablet",
                isLong: true,
                cell: ({ scopes }) => <span title={scopes.join("\n")}>{permissionsInWords(scopes)}</span>,
              },
              { label: "Authorized", cell: ({ created }) => <ClockTime at={created} /> },
              {
                label: "Last active",
                from: "tablet",
                cell: ({ last_token_at: at }) => <Time at={at} isReal />,
              },
              {
                label: "Actions",
                cell: ({ id, app_name: name, created }) => (
                  <ConfirmedAction
                    class="small"
                    title="Revoke access?"
                    explanation={
                      <p>
                        {name} was authorized at <ClockTime at={created} />. All tokens that it got then stop working at
                        once; other sign-ins of the same app stay.
                      </p>
                    }
                    verb="Revoke access"
                    run={async () => {
                      await call("POST", `/v1/oauth_grants/${id}/revoke`);
                      grants.reload();
                      return `Revoked the access of ${name}`;
                    }}
                  >
                    Revoke
                  </ConfirmedAction>
                ),
              },
            ]}
          />
        </Card>
      </Below>
    </Page>
  );
}

/** The users of the account; owners invite and remove members. */
function Team({ users, isOwner }: { users: Pages<User>; isOwner: boolean }) {
  const call = useCall();
  const [invited, setInvited] = useState<User>();
  const [left, setLeft] = useState<{ email: string; keys: readonly ApiKey[] }>();
  return (
    <Card
      title="Team"
      note="Members can do everything, also in live mode, except invite and remove users"
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
        label="Team"
        pages={users}
        empty={null}
        columns={[
          {
            label: "Email",
            isLong: true,
            cell: (user) => (
              <span class="user">
                <span class={isInvited(user) ? "avatar invited" : "avatar"} aria-hidden="true">
                  {user.email.charAt(0)}
                </span>
                <bdi>{user.email}</bdi> {user.is_you && <span class="tag">you</span>}
              </span>
            ),
          },
          {
            label: "Role",
            cell: (user) => <span class="role">{isInvited(user) ? "Invited" : user.role}</span>,
          },
          {
            label: "Sign-in",
            from: "tablet",
            cell: (user) => {
              const { has_password: has, invitation_expires_at: until } = user;
              if (!isInvited(user)) return has ? "Password" : "One-time links";
              if (until === null) return "The invitation has expired";
              return (
                <>
                  Invitation expires <Until at={until} isReal />
                </>
              );
            },
          },
          { label: "Added", from: "tablet", cell: ({ created }) => <Time at={created} isReal /> },
          {
            label: "Actions",
            isFor: ({ role }) => isOwner && role === "member",
            cell: (user) => (
              <span class="row-actions">
                {isInvited(user) && (
                  <Action
                    class="small"
                    run={async () => {
                      setInvited(await call<User>("POST", "/v1/users", { email: user.email }));
                      users.reload();
                      return undefined;
                    }}
                  >
                    New link
                  </Action>
                )}
                <Removal
                  user={user}
                  onRemoved={(keys) => {
                    users.reload();
                    if (keys.length > 0) setLeft({ email: user.email, keys });
                  }}
                />
              </span>
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
        <ShownOnce
          title={`Invitation of ${invited.email}`}
          secret={invited.invitation_url}
          what="the invitation link"
          onClose={() => setInvited(undefined)}
        >
          <p>Send this link to {invited.email}. It works once and expires after 3 days.</p>
        </ShownOnce>
      )}
    </Card>
  );
}

/** A member chooses a password to join. */
function isInvited({ role, has_password: has }: User): boolean {
  return role === "member" && !has;
}

function Removal({ user, onRemoved }: { user: User; onRemoved: (keys: readonly ApiKey[]) => void }) {
  const call = useCall();
  const { id, email } = user;
  const [verb, title, explanation] = isInvited(user)
    ? ["Revoke", "Revoke this invitation?", `The link that ${email} was sent stops working.`]
    : [
        "Remove",
        "Remove this user?",
        `${email} is signed out everywhere, and their authorized apps lose access. API keys that they created stay valid; you get a list of them.`,
      ];
  return (
    <ConfirmedAction
      class="small"
      title={title}
      explanation={<p>{explanation}</p>}
      verb={verb}
      run={async () => {
        const { api_keys: keys } = await call<DeletedUser>("DELETE", `/v1/users/${id}`);
        onRemoved(keys.data);
        return `Removed ${email}`;
      }}
    >
      {verb}
    </ConfirmedAction>
  );
}

function Invite({ onClose, onInvited }: { onClose: () => void; onInvited: (user: User) => void }) {
  const call = useCall();
  const [email, setEmail] = useState("");
  return (
    <Dialog title="Invite a user" onClose={onClose}>
      <p>Members can do everything, also in live mode, except invite and remove users. You get a link to send them.</p>
      <Form
        submit="Invite"
        fields={["email"]}
        onCancel={onClose}
        run={async () => onInvited(await call<User>("POST", "/v1/users", { email }))}
      >
        {(error) => <Field label="Email" name="email" value={email} onInput={setEmail} error={error} required />}
      </Form>
    </Dialog>
  );
}
