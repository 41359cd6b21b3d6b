import type { ErrorGuide } from "./guide.ts";

/** Refusals that come from the state of a resource. */
export const RESOURCE_GUIDES = {
  email_taken: {
    meaning: "Another customer of the account has this email address.",
    cause:
      "Addresses are unique within an account and environment, and are compared without regard to case. Often the customer was created by an earlier request whose answer was lost.",
    remedy:
      "Use the customer that `existing` names. To make repeated creations safe, send an Idempotency-Key: the first answer comes again.",
    example: {
      detail: "The email ada@example.com belongs to customer cus_06Fv3Tt0q1Yd8mWc5KxLrB.",
      existing: "cus_06Fv3Tt0q1Yd8mWc5KxLrB",
      errors: [{ pointer: "/email", code: "taken", detail: "another customer has this email" }],
    },
  },
  invalid_transition: {
    meaning: "The resource is not in a status from which it could change like this.",
    cause: "Only a pending order can be completed or canceled, and only a pending payment can succeed or fail.",
    remedy:
      "Read `current`: where it is already the wanted status, an earlier request did it. Otherwise create a new one.",
    example: {
      detail: "Order ord_06Fv3Tt0q1Yd8mWc5KxLrB is canceled: only a pending order can be completed.",
      current: "canceled",
    },
  },
  endpoint_limit: {
    meaning: "The environment has 100 webhook endpoints, and can have no more.",
    cause: "Endpoints were registered and never removed, often by tests or preview deployments.",
    remedy: "Delete endpoints that nobody uses any more. One endpoint can subscribe to many event types.",
    example: { detail: "An environment has at most 100 endpoints: delete one that is no longer used." },
  },
  endpoint_disabled: {
    meaning: "Nothing can be sent to the endpoint, because it is disabled.",
    cause: "Somebody disabled it, or its receiver answered 410 to a delivery.",
    remedy: "Enable it (`PATCH` its `status` to `enabled`), then try again.",
    example: { detail: "The endpoint we_06Fv3Tt0q1Yd8mWc5KxLrB is disabled: enable it first." },
  },
  endpoint_deleted: {
    meaning: "The endpoint that the delivery was for does not exist any more.",
    cause: "It was deleted after the delivery was made; its pending deliveries ended as failed.",
    remedy: "Replay the event instead: it goes to every endpoint that subscribes to it now.",
    example: { detail: "The endpoint we_06Fv3Tt0q1Yd8mWc5KxLrB was deleted: nothing can be sent to it." },
  },
  test_clock_advancing: {
    meaning: "The sandbox's test clock is already on its way to another time.",
    cause: "Two requests moved it at once. Each has to make its attempts in order, so the second is rejected.",
    remedy:
      "Wait until `GET /v1/test_clock` does not show `advancing` any more, or stop the clock (`POST /v1/test_clock/cancel`), then advance it by what is still missing.",
    example: { detail: "The test clock is being moved: wait until that is done, or cancel it." },
  },
  delivery_not_retryable: {
    meaning: "The delivery cannot be made due again.",
    cause: "It has already succeeded, or it went to a listening session.",
    remedy: "To send the same event once more, replay it.",
    example: {
      detail:
        "The delivery dlv_06Fv3Tt0q1Yd8mWc5KxLrB cannot be retried: it has succeeded; replay the event to send it again.",
    },
  },
  event_expired: {
    meaning: "The event is older than 30 days and cannot be sent again.",
    cause: "The platform keeps an event for replay for 30 days.",
    remedy: "Read the resource itself through the API: it holds the present state.",
    example: { detail: "The event evt_06Fv3Tt0q1Yd8mWc5KxLrB is older than 30 days: it can no longer be sent." },
  },
} as const satisfies Record<string, ErrorGuide>;
