// Fastify with one route, POST /v1/customers, that validates and serializes by the schemas of our OpenAPI document and
// does nothing else: what the framework itself costs. `node bench/fastify-server.js OPENAPI_FILE`.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import Fastify from "fastify";

const { components, paths } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const { requestBody, responses } = paths["/v1/customers"].post;
const schemaOf = ({ content }) => resolve(content["application/json"].schema);
const app = Fastify({ ajv: { customOptions: { strict: false, coerceTypes: false, removeAdditional: false } } });

app.post(
  "/v1/customers",
  { schema: { body: schemaOf(requestBody), response: { 201: schemaOf(responses["201"]) } } },
  ({ body }, reply) => {
    const { email, name = null, phone = null, metadata = {} } = body;
    const created = `${new Date().toISOString().slice(0, 19)}Z`;
    reply
      .code(201)
      .send({ id: randomUUID(), object: "customer", email, name, phone, metadata, livemode: false, created });
  },
);
const url = await app.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`${JSON.stringify({ base_url: url })}\n`);

/** Replaces references into the document by what they name. */
function resolve(schema) {
  if (Array.isArray(schema)) return schema.map(resolve);
  if (typeof schema !== "object" || schema === null) return schema;
  if (schema.$ref !== undefined) return resolve(components.schemas[schema.$ref.split("/").at(-1)]);
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, resolve(value)]));
}
