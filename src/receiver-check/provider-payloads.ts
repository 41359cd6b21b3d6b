import type { SchemeName } from "../webhooks/schemes.ts";
import { type Payload, STRIPE_PAYLOADS, unixTime } from "./stripe-payloads.ts";

/**
 * Payloads by event type as the public documentation of each provider describes them, in its spelling of JSON: Stripe
 * indents, Slack escapes slashes, Shopify `&`. The first one is the default.
 */
export const PROVIDER_PAYLOADS: Readonly<Record<Exclude<SchemeName, "service">, Readonly<Record<string, Payload>>>> = {
  standard: {
    "user.created": (at) => {
      const data = { id: "usr_2dVq7Lk", email: "ada@example.com", name: "Zoë Ada", plan: "team", seats: 5 };
      return JSON.stringify({ type: "user.created", timestamp: isoTime(at), data });
    },
  },
  svix: {
    "invoice.paid": (at) => {
      const data = { id: "inv_9fT3mWx", customer: "cus_4kQp2Zs", amount: 1999, currency: "eur", note: "Zoë Ada" };
      return JSON.stringify({ type: "invoice.paid", timestamp: isoTime(at), data });
    },
  },
  stripe: STRIPE_PAYLOADS,
  github: {
    push: (at) => {
      const author = { name: "Zoë Ada", email: "ada@example.com", username: "octocat" };
      const commit = {
        id: GITHUB_COMMIT,
        tree_id: "f9d2a07e9488b91af2641b26b9407fe22a451433",
        distinct: true,
        message: "Update README.md",
        timestamp: isoTime(at),
        url: `${GITHUB_REPOSITORY.html_url}/commit/${GITHUB_COMMIT}`,
        author,
        committer: author,
        added: [],
        removed: [],
        modified: ["README.md"],
      };
      return JSON.stringify({
        ref: "refs/heads/main",
        before: GITHUB_PARENT,
        after: commit.id,
        repository: GITHUB_REPOSITORY,
        pusher: { name: "octocat", email: "ada@example.com" },
        sender: GITHUB_USER,
        created: false,
        deleted: false,
        forced: false,
        commits: [commit],
        head_commit: commit,
      });
    },
    ping: (at) => {
      const hook = {
        type: "Repository",
        id: 109_948_940,
        name: "web",
        active: true,
        events: ["push", "pull_request"],
        config: { content_type: "json", insecure_ssl: "0", url: "https://example.com/github" },
        created_at: isoTime(at),
        updated_at: isoTime(at),
      };
      return githubEvent({ zen: "Keep it logically awesome.", hook_id: hook.id, hook });
    },
    pull_request: (at) => {
      const pullRequest = {
        id: 1_942_003_117,
        number: 42,
        state: "open",
        title: "Update README.md",
        body: "Zoë's changes",
        user: GITHUB_USER,
        draft: false,
        merged: false,
        html_url: `${GITHUB_REPOSITORY.html_url}/pull/42`,
        head: { ref: "readme", sha: GITHUB_COMMIT },
        base: { ref: "main", sha: GITHUB_PARENT },
        created_at: isoTime(at),
        updated_at: isoTime(at),
      };
      return githubEvent({ action: "opened", number: pullRequest.number, pull_request: pullRequest });
    },
    issues: (at) => githubEvent({ action: "opened", issue: githubIssue(at) }),
    issue_comment: (at) => {
      const comment = {
        id: 1_730_914_206,
        body: "Thank you, Zoë!",
        user: GITHUB_USER,
        html_url: `${githubIssue(at).html_url}#issuecomment-1730914206`,
        created_at: isoTime(at),
        updated_at: isoTime(at),
      };
      return githubEvent({ action: "created", issue: githubIssue(at), comment });
    },
    release: (at) => {
      const release = {
        id: 121_552_384,
        tag_name: "v1.4.0",
        target_commitish: "main",
        name: "1.4.0",
        body: "Zoë's release",
        draft: false,
        prerelease: false,
        author: GITHUB_USER,
        html_url: `${GITHUB_REPOSITORY.html_url}/releases/tag/v1.4.0`,
        created_at: isoTime(at),
        published_at: isoTime(at),
        assets: [],
      };
      return githubEvent({ action: "published", release });
    },
    workflow_run: (at) => {
      const run = {
        id: 6_203_114_873,
        name: "CI",
        run_number: 318,
        event: "push",
        status: "completed",
        conclusion: "success",
        head_branch: "main",
        head_sha: GITHUB_COMMIT,
        html_url: `${GITHUB_REPOSITORY.html_url}/actions/runs/6203114873`,
        created_at: isoTime(at),
        updated_at: isoTime(at),
      };
      return githubEvent({ action: "completed", workflow_run: run });
    },
  },
  shopify: {
    "orders/create": (at) => {
      const order = {
        id: 5_820_982_911_946,
        admin_graphql_api_id: "gid://shopify/Order/5820982911946",
        created_at: isoTime(at),
        currency: "EUR",
        email: "ada@example.com",
        financial_status: "paid",
        name: "#1042",
        note: "Gift wrap & card",
        order_number: 1042,
        total_price: "19.99",
        customer: { id: 7_115_310_163_188, email: "ada@example.com", first_name: "Zoë", last_name: "Ada" },
        line_items: [{ id: 13_866_488_963_241, title: "Pot & saucer", quantity: 1, price: "19.99", sku: "POT-1" }],
      };
      return JSON.stringify(order).replaceAll("&", String.raw`\u0026`);
    },
  },
  slack: {
    app_mention: (at) => {
      const seconds = unixTime(at);
      const callback = {
        token: "XXYYZZ",
        team_id: "T061EG9R6",
        api_app_id: "A0PNCHHK2",
        event: {
          type: "app_mention",
          user: "U061F7AUR",
          text: "<@U0LAN0Z89> is the release out? <https://example.com/releases|releases>",
          ts: `${seconds}.000100`,
          channel: "C0LAN2Q65",
          event_ts: `${seconds}.000100`,
        },
        type: "event_callback",
        event_id: "Ev0PV52K21",
        event_time: seconds,
        authorizations: [{ team_id: "T061EG9R6", user_id: "U0LAN0Z89", is_bot: true }],
      };
      return JSON.stringify(callback).replaceAll("/", String.raw`\/`);
    },
  },
};

const GITHUB_COMMIT = "0d1a26e67d8f5eaf1f6ba5c57fc3c7d91ac0fd1c";
const GITHUB_PARENT = "6113728f27ae82c7b1a177c8d03f9e96e0adf246";
const GITHUB_USER = { login: "octocat", id: 583_231, type: "User" };
const GITHUB_REPOSITORY = {
  id: 186_853_002,
  name: "hello-world",
  full_name: "octocat/hello-world",
  private: false,
  html_url: "https://github.com/octocat/hello-world",
  default_branch: "main",
};

function githubEvent(fields: object): string {
  return JSON.stringify({ ...fields, repository: GITHUB_REPOSITORY, sender: GITHUB_USER });
}

function githubIssue(at: number) {
  return {
    id: 1_911_340_018,
    number: 7,
    state: "open",
    title: "Spelling mistake in README.md",
    body: "Zoë found it.",
    user: GITHUB_USER,
    labels: [],
    comments: 0,
    html_url: `${GITHUB_REPOSITORY.html_url}/issues/7`,
    created_at: isoTime(at),
    updated_at: isoTime(at),
  };
}

/** Returns a time without milliseconds. */
const isoTime = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;
