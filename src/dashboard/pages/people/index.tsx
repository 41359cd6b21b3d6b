import type { OAuthGrant, Session, User } from "../../../contract/schemas/account.ts";
import { call } from "../../api/call.ts";
import { usePages, WHOLE } from "../../api/use-query.ts";
import { Action, ConfirmedAction } from "../../components/action.tsx";
import { Card, Page } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";
import { PagedTable } from "../../components/table.tsx";
import { Time } from "../../components/time.tsx";
import { browserName } from "../../format.ts";
import { People as PeopleCard } from "./people.tsx";

export function People() {
  const sessions = usePages<Session>("/v1/sessions", {}, { limit: WHOLE });
  const grants = usePages<OAuthGrant>("/v1/oauth_grants", {}, { limit: WHOLE });
  const users = usePages<User>("/v1/users", {}, { limit: WHOLE });
  const you = users.items?.find(({ is_you: isYou }) => isYou);
  return (
    <Page title="Team & access" subtitle="Users, your sessions, and apps that act on your behalf">
      {you?.has_password === false && (
        <p class="notice wait">
          <strong>You have no password yet.</strong> Until one is set, you can sign in by one-time links only.{" "}
          <a href="/account">Set a password</a>
        </p>
      )}
      <PeopleCard users={users} isOwner={you?.role === "owner"} />
      <Card title="Where you are signed in">
        <PagedTable
          label="Your sessions"
          pages={sessions}
          empty={<Empty title="Nowhere else." />}
          columns={[
            {
              label: "Browser",
              cell: ({ user_agent: agent, is_current: isCurrent }) => (
                <>
                  {browserName(agent)} {isCurrent && <span class="badge good">this one</span>}
                </>
              ),
            },
            { label: "By", from: "tablet", cell: ({ by_link: byLink }) => (byLink ? "one-time link" : "password") },
            { label: "Since", cell: ({ created }) => <Time at={created} /> },
            { label: "Ends", from: "tablet", cell: ({ expires_at: at }) => <Time at={at} /> },
            {
              label: "Actions",
              isFor: ({ is_current: isCurrent }) => !isCurrent,
              cell: ({ id }) => (
                <Action
                  class="small danger"
                  run={async () => {
                    await call("DELETE", `/v1/sessions/${id}`);
                    sessions.reload();
                    return "Signed out there";
                  }}
                >
                  Sign out
                </Action>
              ),
            },
          ]}
        />
      </Card>
      <Card title="Apps that act for you">
        <PagedTable
          label="Apps that act for you"
          pages={grants}
          empty={
            <Empty title="No app acts for you.">
              <p>The command line is one, once you have signed it in.</p>
            </Empty>
          }
          columns={[
            { label: "App", cell: ({ app_name: name }) => <bdi>{name}</bdi> },
            { label: "Environment", cell: (grant) => grant.environment },
            { label: "May", from: "tablet", cell: ({ scopes }) => scopes.join(", ") },
            { label: "Since", from: "tablet", cell: ({ created }) => <Time at={created} /> },
            {
              label: "Actions",
              cell: ({ id, app_name: name }) => (
                <ConfirmedAction
                  class="small danger"
                  title="Take this access back?"
                  explanation={<p>Every token of {name} from this grant ends at once.</p>}
                  verb="Revoke access"
                  run={async () => {
                    await call("POST", `/v1/oauth_grants/${id}/revoke`);
                    grants.reload();
                    return `${name} has no access any more`;
                  }}
                >
                  Revoke
                </ConfirmedAction>
              ),
            },
          ]}
        />
      </Card>
    </Page>
  );
}
