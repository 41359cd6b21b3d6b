import { useState } from "preact/hooks";
import type { Payment } from "../../../contract/schemas/payment.ts";
import { call } from "../../api/call.ts";
import { useQuery } from "../../api/use-query.ts";
import { Action } from "../../components/action.tsx";
import { Badge } from "../../components/badge.tsx";
import { Id } from "../../components/copy.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Field, Form } from "../../components/form.tsx";
import { MetadataFacts } from "../../components/metadata-facts.tsx";
import { Facts, Page } from "../../components/page.tsx";
import { Loaded } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { say } from "../../components/toasts.tsx";
import { money } from "../../format.ts";
import { hrefOf } from "../../router.tsx";
import { ObjectLink } from "../object-link.tsx";
import { RelatedEvents } from "../related-events.tsx";

export function PaymentDetail({ id }: { id: string }) {
  const query = useQuery<Payment>(`/v1/payments/${encodeURIComponent(id)}`, { every: 2000 });
  const [isFailing, setFailing] = useState(false);
  const { data } = query;
  return (
    <Page
      title={data === undefined ? "Payment" : `Payment of ${money(data.amount, data.currency)}`}
      back={{ href: hrefOf("payments"), label: "Payments" }}
      actions={
        data?.status === "pending" && (
          <>
            <button type="button" onClick={() => setFailing(true)}>
              Let it fail
            </button>
            <Action
              class="primary"
              run={async () => {
                await call("POST", `/v1/payments/${id}/succeed`);
                query.reload();
                return `Succeeded: ${id}`;
              }}
            >
              Let it succeed
            </Action>
          </>
        )
      }
    >
      <Loaded of={query}>
        {(payment) => (
          <>
            <Facts
              rows={[
                ["Status", <Badge status={payment.status} />],
                ["Failure", payment.failure_code ?? undefined],
                ["Id", <Id id={payment.id} />],
                ["Order", <ObjectLink id={payment.order} />],
                ["Created", <Time at={payment.created} />],
              ]}
            />
            <MetadataFacts metadata={payment.metadata} />
            <RelatedEvents id={payment.id} />
          </>
        )}
      </Loaded>
      {isFailing && (
        <FailPayment
          id={id}
          onClose={() => {
            setFailing(false);
            query.reload();
          }}
        />
      )}
    </Page>
  );
}

function FailPayment({ id, onClose }: { id: string; onClose: () => void }) {
  const [code, setCode] = useState("card_declined");
  return (
    <Dialog title="Let the payment fail" onClose={onClose}>
      <Form
        submit="Let it fail"
        fields={["failure_code"]}
        onCancel={onClose}
        run={async () => {
          await call("POST", `/v1/payments/${id}/fail`, { failure_code: code });
          say(`Failed: ${id}`);
          onClose();
        }}
      >
        {(error) => <Field label="Failure code" name="failure_code" value={code} onInput={setCode} error={error} />}
      </Form>
    </Dialog>
  );
}
