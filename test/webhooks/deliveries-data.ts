export const SECRET = "whsec_dGhlIHdob2xlIHN0cmluZyBpcyB0aGUga2V5IQ0000000";
export const OTHER_SECRET = "whsec_YW5vdGhlciBzZWNyZXQsIGZvciByb3RhdGlvbnM0000000";
export const NOW = 1_700_000_000;

export const EVENT = {
  id: "evt_01HZX3K9Q2W8V7T6R5N4M3",
  object: "event",
  type: "order.completed",
  created: "2026-11-01T12:00:00Z",
  livemode: false,
  data: { object: { id: "ord_1", object: "order", amount: 4200, currency: "EUR", status: "completed" } },
  request: { id: "req_1" },
};
export const PAYLOAD = JSON.stringify(EVENT);
