import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Card } from "../../components/page.tsx";
import { CommandLine } from "../../components/values.tsx";
import { hrefOf, Link } from "../../router.tsx";
import { remember, remembered } from "../../theme.ts";
import { ObjectForm } from "../objects/form.tsx";
import type { Progress } from "./progress.ts";

const RECEIVER = `import { createServer } from "node:http";
import { nodeWebhook } from "service-cli/webhooks";

createServer(
  nodeWebhook({ secrets: process.env.SERVICE_WEBHOOK_SECRET }, (event, request, response) => {
    console.log("verified", event.type, event.id);
    response.writeHead(204).end();
  }),
).listen(3000, "127.0.0.1");`;

const HIDDEN_AS = "service-quick-start";

/** The first steps, with this server's own commands, until an event was delivered and replayed. */
export function QuickStart({ progress }: { progress: Progress }) {
  const { hasEndpoint, hasEvent, delivered: newest } = progress;
  const [isHidden, setHidden] = useState(remembered(HIDDEN_AS) === "hidden");
  const [isCreating, setCreating] = useState(false);
  const hide = (isNow: boolean) => {
    remember(HIDDEN_AS, isNow ? "hidden" : "");
    setHidden(isNow);
  };
  if (isHidden) {
    return (
      <p>
        <button type="button" class="small" onClick={() => hide(false)}>
          Show the first steps
        </button>
      </p>
    );
  }
  const origin = location.origin;
  return (
    <Card
      title="Quick start: your first verified delivery"
      actions={
        <button type="button" class="small" onClick={() => hide(true)}>
          Hide
        </button>
      }
    >
      <ol class="steps">
        <Step isDone={hasEndpoint} title="Connect your application">
          <p>
            On your own machine, sign in with the CLI and forward events to your application. <code>listen</code> prints
            the signing secret.
          </p>
          <CommandLine text={`service login --base-url ${origin}`} what="the login command" />
          <CommandLine text="service listen --forward-to localhost:3000" what="the listen command" />
          <details>
            <summary>No application yet? A webhook handler in nine lines</summary>
            <p>
              Save it as <code>receiver.mjs</code> in a project with <code>service-cli</code> installed, and start it
              with the secret that <code>listen</code> printed:
            </p>
            <pre>{RECEIVER}</pre>
            <CommandLine
              text="SERVICE_WEBHOOK_SECRET=$(service listen --print-secret) node receiver.mjs"
              what="the command that starts the handler"
            />
          </details>
          <p>
            Or <Link href={hrefOf("endpoints", "", { create: "1" })}>register an endpoint</Link> that the platform can
            reach.
          </p>
        </Step>
        <Step isDone={hasEvent} title="Trigger an event">
          <p>With the CLI, or by creating a customer here:</p>
          <CommandLine text="service trigger order.completed" what="the trigger command" />
          <button type="button" onClick={() => setCreating(true)}>
            Create a customer
          </button>
        </Step>
        <Step isDone={newest !== undefined} title="See it delivered">
          <p>
            {newest === undefined ? (
              "The delivery appears here once your application has returned 2xx."
            ) : (
              <>
                {newest.event_type} was delivered: <Link href={hrefOf("deliveries", newest.id)}>show the delivery</Link>
                .
              </>
            )}
          </p>
        </Step>
        <Step isDone={false} title="Replay it">
          <p>
            {newest === undefined ? (
              "You can replay any event of the last 30 days, with the same bytes."
            ) : (
              <Link href={hrefOf("events", newest.event)}>Open the event and choose More, Replay</Link>
            )}
          </p>
        </Step>
      </ol>
      {isCreating && <ObjectForm kind="customer" onClose={() => setCreating(false)} />}
    </Card>
  );
}

function Step({ isDone, title, children }: { isDone: boolean; title: string; children: ComponentChildren }) {
  return (
    <li class={isDone ? "done" : undefined}>
      <h3>
        {title} <span class="soft">{isDone ? "done" : ""}</span>
      </h3>
      {children}
    </li>
  );
}
