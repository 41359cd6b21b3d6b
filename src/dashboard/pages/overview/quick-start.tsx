import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { CopyLine } from "../../components/copy.tsx";
import { Card } from "../../components/page.tsx";
import { hrefOf, Link } from "../../router.tsx";
import { CreateObject } from "../objects/form.tsx";
import type { Progress } from "./progress.ts";

const RECEIVER = `import { createServer } from "node:http";
import { nodeWebhook } from "service-cli/webhooks";

createServer(
  nodeWebhook({ secrets: process.env.WEBHOOK_SECRET }, (event, request, response) => {
    console.log("verified", event.type, event.id);
    response.writeHead(204).end();
  }),
).listen(3000);`;

/** What a newcomer does first, with this server's own commands; it goes once something was delivered and replayed. */
export function QuickStart({ progress }: { progress: Progress }) {
  const { hasReceiver, hasEvent, delivered: newest } = progress;
  const [isHidden, setHidden] = useState(false);
  const [isCreating, setCreating] = useState(false);
  if (isHidden) return null;
  const origin = location.origin;
  return (
    <Card
      title="Quick start: from nothing to a verified delivery"
      actions={
        <button type="button" class="small" onClick={() => setHidden(true)}>
          Hide
        </button>
      }
    >
      <ol class="steps">
        <Step isDone={hasReceiver} title="Give events somewhere to go">
          <p>
            For work on your own machine, sign the command in and relay events to your application. <code>listen</code>{" "}
            prints the signing secret.
          </p>
          <CopyLine text={`service login --base-url ${origin}`} what="the login command" />
          <CopyLine text="service listen --forward-to localhost:3000" what="the listen command" />
          <details>
            <summary>No application yet? A receiver in nine lines</summary>
            <p>
              Save it as <code>receiver.mjs</code> in a folder where <code>service-cli</code> is installed, and start it
              with the secret that <code>listen</code> printed:
            </p>
            <pre>{RECEIVER}</pre>
            <CopyLine
              text="WEBHOOK_SECRET=$(service listen --print-secret) node receiver.mjs"
              what="the command that starts the receiver"
            />
          </details>
          <p>
            Or <Link href={hrefOf("endpoints", "", { create: "1" })}>register an endpoint</Link> that the platform
            reaches by itself.
          </p>
        </Step>
        <Step isDone={hasEvent} title="Make something happen">
          <p>From the command line, or with the button; both make the same API call.</p>
          <CopyLine text="service trigger order.completed" what="the trigger command" />
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            Create a customer
          </button>
        </Step>
        <Step isDone={newest !== undefined} title="See it delivered">
          <p>
            {newest === undefined ? (
              "Once your application has answered 2xx, it says so here."
            ) : (
              <>
                {newest.event_type} was delivered:{" "}
                <Link href={hrefOf("deliveries", newest.id)}>look at the delivery</Link>.
              </>
            )}
          </p>
        </Step>
        <Step isDone={false} title="Replay it">
          <p>
            {newest === undefined ? (
              "Any event of the last 30 days can be sent again, with the same bytes."
            ) : (
              <Link href={hrefOf("events", newest.event)}>Open the event and choose Replay</Link>
            )}
          </p>
        </Step>
      </ol>
      {isCreating && <CreateObject kind="customer" onClose={() => setCreating(false)} />}
    </Card>
  );
}

function Step({ isDone, title, children }: { isDone: boolean; title: string; children: ComponentChildren }) {
  return (
    <li class={isDone ? "done" : undefined}>
      <h3>
        {title} <span class="soft">{isDone ? "✓ done" : ""}</span>
      </h3>
      {children}
    </li>
  );
}
